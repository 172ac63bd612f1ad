"""A session's backend for compiled steps, which report to the host what they computed."""

import time
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from traindx.capture.arrays import activations as act
from traindx.capture.arrays.answers import answers
from traindx.capture.arrays.data import Array
from traindx.capture.compiled.leaves import Leaf, architecture
from traindx.capture.compiled.reported import BatchObserver, ReportedBackend
from traindx.capture.session import Part, Updates, Watched
from traindx.vocabulary import Fact

ROWS = 7  # of what is known of each leaf in a step; `steps.READINGS` are the first of them
RANK_EVERY = 4  # sampled steps between effective ranks


class Answer(NamedTuple):
    """What a loss function was given: its name, outputs, targets, and the loss of each sample."""

    name: str
    outputs: Array
    targets: Array
    losses: Array


class CompiledObserver(BatchObserver):
    """Activations, outputs and batches that were reported since the last step."""

    def __init__(self, view: Watched) -> None:
        super().__init__(view, lambda values: values)
        self.activations: dict[str, tuple[act.Kind, Array]] = {}
        self.answer: Answer | None = None
        self._units: dict[str, act.Units] = {}
        self._turn = 0

    def batch(self, inputs: Any, targets: Any, training: bool | None, reported: bool, *whose: Any) -> None:
        self.data.look(inputs, targets, bool(training), self._view.sampling, *whose)
        if training and inputs is not None:
            self._view.habits.batch(len(inputs))

    def finish(self) -> None:
        began = time.perf_counter()
        self._turn += 1
        readings = {name: self._reading(name, *called) for name, called in self.activations.items()}
        if readings and self._view.wants("activations"):
            values = np.array([v for reading in readings.values() for v in reading])
            self._view.vectors.append(("activations", list(readings), values))
        if self.answer is not None and np.isfinite(self.answer.outputs).all():
            self.data.outputs(self.answer.outputs)
            self._view.scalars.update(answers(self.answer.outputs, self.answer.targets, self.data))
        self.seconds += time.perf_counter() - began

    def _reading(self, name: str, kind: act.Kind, values: Array) -> list[float]:
        rows = act.rows_of(values, self._turn)
        part = act.rank_part(values) if self._turn % RANK_EVERY == 1 else None
        silent = float("nan")
        if kind == "rectifier":
            units = self._units.setdefault(name, act.Units())
            units.add(
                act.largest_by_unit(np.moveaxis(rows, -1, 1) if rows.ndim > 3 else rows, False), len(rows)
            )
            silent = float(units.silent())
        part = None if part is None else np.asarray(part, np.float32)
        return [*act.output_statistics(np.ascontiguousarray(rows, np.float32), kind, None, part), silent]


class CompiledBackend(ReportedBackend):
    """`readings[ROWS, p]` are those of the step that was just reported, NaN where nothing was read."""

    libraries = ("jax", "flax", "optax", "keras", "tensorflow", "torch")

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name
        self.readings: Array = np.zeros((ROWS, 0))
        self.observer: CompiledObserver | None = None
        self.optimizer: dict[str, Fact] = {}
        self.frozen: set[int] | None = None  # places of the leaves that were left out at every step

    @property
    def left_out(self) -> Array:
        """Which leaves this step's transformation left as they were though they have a gradient and others
        moved. Masks and `set_to_zero` of optax do that: the leaves are frozen."""
        _, zeros, change = self.readings[:3]
        return np.asarray((zeros < 1) & (change == 0) & bool((change > 0).any()))

    def trainable(self, parameter: Leaf) -> bool:
        place = next((i for i, leaf in enumerate(self.trained) if leaf is parameter), None)
        return place is None or not self.frozen or place not in self.frozen

    def parts(self, model: Sequence[Leaf], prefix: str) -> Sequence[Part] | None:
        return [Part(leaf, leaf.name, leaf.owner) for leaf in model]

    def architecture(self, model: Sequence[Leaf]) -> dict[str, Fact]:
        return architecture(model)

    def size(self, parameter: Leaf) -> int:
        return parameter.size

    def optimizer_facts(self, optimizer: Any) -> dict[str, Fact]:
        return self.optimizer

    def gradient_squares(self, parameters: Sequence[Leaf], elsewhere: bool) -> list[float]:
        return list(np.square(self.readings[0]).tolist())

    def updates(self, elsewhere: bool) -> Updates:
        return ReportedUpdates(self)

    def read(self, kind: str, parameters: Sequence[Leaf], elsewhere: bool) -> Any:
        known = kind == "weights" and np.isfinite(self.readings[3]).any()
        return np.concatenate([self.readings[3], self.readings[4]]) if known else None

    def observers(self, view: Watched) -> Sequence[object]:
        self.observer = CompiledObserver(view)
        return [self.observer]


class ReportedUpdates:
    """`Updates` that were computed within the step."""

    number_format = ""

    def __init__(self, backend: CompiledBackend) -> None:
        self._backend, self.turn = backend, 0

    def begin(self, parameters: Sequence[Leaf]) -> Array:
        self.turn += 1
        return np.where(self._backend.left_out, np.nan, self._backend.readings[1])

    def end(self, count: int) -> Array:
        return self._backend.readings[[2, 5, 6]].reshape(-1)
