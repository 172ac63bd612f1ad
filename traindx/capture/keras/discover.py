"""What `fit` does, told by a callback."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import keras

from traindx.capture.keras.backend import KerasBackend
from traindx.capture.keras.measure import Notes
from traindx.capture.process.guard import say
from traindx.capture.session.loop import Loop
from traindx.capture.session.session import Session
from traindx.errors import ConfigError

WANTED = {"loss", "gradients"}  # of each batch


def watches(model: Any) -> bool:
    """Whether this is a Keras model."""
    return isinstance(model, keras.Model)


class KerasLoop(Loop):
    """A compiled model, from the beginning of each `fit` to its end. Raises ConfigError for a model that is not
    compiled, for an optimizer that is not the model's, and for loss scaling. `options` are those of `Session`."""

    def __init__(self, model: Any, optimizer: Any, out: Path | None, **options: Any) -> None:
        if not getattr(model, "compiled", False):
            raise ConfigError("traindx.watch: the Keras model has to be compiled first")
        if optimizer is not None and optimizer is not model.optimizer:
            raise ConfigError("traindx.watch: a Keras model is trained by the optimizer that it was compiled with")
        if isinstance(model.optimizer, keras.optimizers.LossScaleOptimizer):
            raise ConfigError("traindx.watch: loss scaling in Keras is not known yet; read what `fit` logs instead")
        self._backend = KerasBackend()
        self._model = model
        self._notes: Notes | None = None
        self._said = False
        self.session = Session(out, self._backend, **options)

    def begin(self, stepped: Callable[[], None]) -> None:
        self._stepped = stepped

    def end(self) -> None:
        notes, self._notes = self._notes, None
        if notes is not None:
            notes.remove()

    @property
    def callback(self) -> Any:
        return keras.callbacks.LambdaCallback(
            on_train_begin=lambda logs: self._safely(self._train_begins),
            on_train_batch_end=lambda batch, logs: self._safely(self._batch_ended),
            on_epoch_end=lambda epoch, logs: self._safely(self._epoch_ended, logs or {}),
            on_train_end=lambda logs: self.end(),
        )

    def _safely(self, hook: Callable[..., None], *given: Any) -> None:
        """Call a hook; if it fails, the session lets go. The variables stay until `fit` ends, which counts them."""
        if self.session.active:
            try:
                hook(*given)
            except Exception as error:  # noqa: BLE001 - nothing may be raised inside `fit`
                self.session.failed(hook.__name__, error)

    def _train_begins(self) -> None:
        self.end()  # of a `fit` that was broken off
        self.session.add_model(self._model)
        self.session.add_optimizer(self._model.optimizer)
        self._notes = Notes(self._model, self.session.failed)
        self._model.make_train_function(force=True)  # one that was compiled before knows nothing of the notes

    def _batch_ended(self) -> None:
        notes = self._notes
        if notes is None:
            return
        if notes.seen != WANTED:
            missing = " and ".join(sorted(WANTED - notes.seen))
            self._say_once(f"the train step of this model does not show its {missing}")
            return
        loss, self._backend.norms = notes.read(self._model)
        self.session.loss(loss)
        self.session.optimizer_step_begin(self._model.optimizer, timed=False)
        self.session.optimizer_step_end(self._model.optimizer)
        self._stepped()

    def _say_once(self, message: str) -> None:
        if not self._said:
            self._said = True
            say(message)
            self.session.event("note", message, "not-measured")

    def _epoch_ended(self, logs: dict[str, Any]) -> None:
        for name, value in logs.items():
            if name.startswith("val_"):
                self.session.validation(name[4:], value)
