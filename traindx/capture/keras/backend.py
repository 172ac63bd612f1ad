"""What a session knows of Keras: variables by layer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import keras
import numpy as np

from traindx.capture.session.backend import Backend
from traindx.capture.session.layout import Part
from traindx.vocabulary.setup import Fact


class KerasBackend(Backend):
    """Variables are Keras's own; their gradients' norms are told before each step."""

    name = "keras"

    def __init__(self) -> None:
        self._known: list[Any] = []
        self._variables: list[Any] = []  # trained, in the model's order
        self.norms: list[float] = []  # of the last step, in that order

    def parts(self, model: Any, prefix: str) -> Sequence[Part] | None:
        if any(known is model for known in self._known):
            return None
        self._known.append(model)
        self._variables = list(model.trainable_variables)
        # Not `weights`, which holds the statistics of normalizations, too: nobody has frozen those.
        found = [v for layer in model._flatten_layers() for v in layer._trainable_variables]
        return [Part(v, v.path, v.path.rpartition("/")[0] or v.path) for v in found]

    def architecture(self, model: Any) -> dict[str, Fact]:
        return {"model": type(model).__name__, "keras_backend": keras.backend.backend()}

    def size(self, parameter: Any) -> int:
        return int(np.prod(parameter.shape))

    def trainable(self, parameter: Any) -> bool:
        return bool(parameter.trainable)

    def given(self, optimizer: Any) -> list[Any]:
        return self._variables

    def optimizer_facts(self, optimizer: Any) -> dict[str, Fact]:
        rate = optimizer.get_config().get("learning_rate")  # a dict, where it follows a schedule
        return {"optimizer": type(optimizer).__name__, **({"lr": float(rate)} if isinstance(rate, float | int) else {})}

    def gradient_squares(self, parameters: Sequence[Any], elsewhere: bool) -> list[float]:
        found = {id(v): norm * norm for v, norm in zip(self._variables, self.norms, strict=True)}
        return [found.get(id(parameter), 0.0) for parameter in parameters]
