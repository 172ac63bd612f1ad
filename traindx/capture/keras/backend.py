"""What a session knows of Keras: variables by layer."""

from collections.abc import Sequence
from typing import Any

import keras
import numpy as np

from traindx.capture.arrays.data import Array
from traindx.capture.arrays.windows import Windows, gains, sizes, window
from traindx.capture.compiled.reported import ReportedBackend
from traindx.capture.keras import facts
from traindx.capture.keras.observer import KerasObserver
from traindx.capture.keras.state import values_of
from traindx.capture.session import Part, Updates, Watched
from traindx.vocabulary import Fact


class KerasBackend(ReportedBackend):
    """Variables are Keras's own. What a step did is reported after it was made: `readings[2, p]` (gradients'
    norms and shares of zeros, in the model's order) and `rate`; `before` is called ahead of a sampled
    one."""

    name = "keras"
    libraries = ("keras", "tensorflow", "jax", "torch")

    def __init__(self) -> None:
        super().__init__()
        self.model: Any = None
        self._known: list[Any] = []
        self._given: dict[int, list[Any]] = {}  # what optimizers hold, by their ids: the session keeps them
        self.readings: Array = np.zeros((2, 0))
        self.windows = Windows(self._parts, lambda: self._row_of(self.asked, 1, np.nan))
        self.asked: Sequence[Any] = ()  # the parameters of the session's plan, in its order
        self.observer: KerasObserver | None = None

    def parts(self, model: Any, prefix: str) -> Sequence[Part] | None:
        if any(known is model for known in self._known):
            return None
        self._known.append(model)
        # Not `weights`, which holds the statistics of normalizations, too: nobody has frozen those.
        found = [v for layer in model._flatten_layers() for v in layer._trainable_variables]
        return [
            Part(v, relative_path(v.path, model), relative_path(v.path, model).rpartition("/")[0] or v.path)
            for v in found
        ]

    def trains(self, model: Any, optimizer: Any, every: Sequence[Any]) -> None:
        """A training of a model begins, of whose optimizers (`every`) the session knows this one, which
        represents all. Those of models that were trained before keep what they hold."""
        self.model, self.trained = model, list(model.trainable_variables)
        own = [getattr(one, "inner_optimizer", one) for one in every]
        if all(one.built for one in own):
            held = {id(variable) for one in own for variable in one._trainable_variables}
            self._given[id(optimizer)] = [variable for variable in self.trained if id(variable) in held]
        else:  # the first step builds them
            self._given[id(optimizer)] = self.trained

    def parameters_of(self, optimizer: Any) -> list[Any]:
        return self._given.get(id(optimizer), self.trained)

    def rates(self, optimizer: Any) -> list[float]:
        return super().rates(optimizer)[: len(self.parameters_of(optimizer))]

    def architecture(self, model: Any) -> dict[str, Fact]:
        kernels = [
            layer.kernel for layer in facts.plain_layers(model)
            if layer.built and type(layer).__name__ in ("Dense", "Conv1D", "Conv2D", "Conv3D")
        ]  # fmt: skip
        own = [
            one for one in kernels if isinstance(one, keras.Variable) and "float" in one.dtype
        ]  # not of whole numbers
        matrices = [
            (relative_path(one.path, model), keras.ops.convert_to_numpy(values_of(model, [one])[0]))
            for one in own
        ]
        return {**facts.architecture(model), **gains(matrices)}

    def size(self, parameter: Any) -> int:
        return int(np.prod(parameter.shape))

    def trainable(self, parameter: Any) -> bool:
        return bool(parameter.trainable)

    def optimizer_facts(self, optimizer: Any) -> dict[str, Fact]:
        return facts.optimizer_facts(optimizer)

    def gradient_squares(self, parameters: Sequence[Any], elsewhere: bool) -> list[float]:
        self.asked = parameters
        return list(np.square(self._row_of(parameters, 0, 0.0)).tolist())

    def _row_of(self, parameters: Sequence[Any], row: int, other: float) -> Array:
        """A row of what is held, for these parameters; `other` for those that are not trained."""
        found = {id(v): value for v, value in zip(self.trained, self.readings[row], strict=True)}
        return np.array([found.get(id(parameter), other) for parameter in parameters])

    def updates(self, elsewhere: bool) -> Updates:
        return self.windows

    def before(self, parameters: Sequence[Any]) -> None:
        """A sampled step comes."""
        self.asked = parameters
        self.windows.before()

    def _parts(self, turn: int) -> list[Array]:
        return [window(values, turn) for values in self._values(self.asked)]

    def _values(self, parameters: Sequence[Any]) -> list[Array]:
        return [np.asarray(keras.ops.convert_to_numpy(v)) for v in values_of(self.model, parameters)]

    def read(self, kind: str, parameters: Sequence[Any], elsewhere: bool) -> Any:
        return sizes(self._values(parameters)) if kind == "weights" else None

    def observers(self, view: Watched) -> Sequence[object]:
        self.observer = KerasObserver(view)
        return [self.observer]

    def names(self) -> dict[int, str]:
        """What a layer's readings are called, by its id."""
        return {
            id(layer): relative_path(layer.path or layer.name, self.model)
            for layer in facts.plain_layers(self.model)
        }


def relative_path(path: str, model: Any) -> str:
    """A path without the model's own name."""
    return path.removeprefix(f"{model.name}/")
