"""`traindx.watch(model)` and the callback of `traindx.keras.Watch`: a training of a given model."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import keras

from traindx.capture.keras.backend import KerasBackend
from traindx.capture.keras.batches import Batches
from traindx.capture.keras.training import Listener, Training, refusal
from traindx.capture.session import Loop, Session
from traindx.errors import ConfigError


def watches(model: Any) -> bool:
    """Whether this is a Keras model."""
    return isinstance(model, keras.Model)


class KerasLoop(Loop):
    """A compiled model, from the beginning of each `fit` to its end. Raises ConfigError for a model that is
    not compiled, for an optimizer that is not the model's, and for loss scaling. `options` are those of
    `Session`."""

    def __init__(self, model: Any, optimizer: Any, out: Path | None, **options: Any) -> None:
        why = refusal(model)
        if why:
            raise ConfigError(f"traindx.watch: {why}")
        if optimizer is not None and optimizer is not model.optimizer:
            raise ConfigError(
                "traindx.watch: a Keras model is trained by the optimizer that it was compiled with"
            )
        backend = KerasBackend()
        self.session = Session(out, backend, **options)
        self._backend = backend
        self._training: Training | None = None
        self._batches: Batches | None = None

    def begin(self, stepped: Callable[[], None]) -> None:
        self._batches = Batches()
        self._training = Training(self.session, self._backend, stepped, self._batches)

    def end(self) -> None:
        if self._training is not None:
            self._training.end()
        if self._batches is not None:
            self._batches.remove()

    @property
    def callback(self) -> Any:
        return Listener(lambda model: self._training)
