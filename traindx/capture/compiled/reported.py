"""What all steps have in common that are reported after they were made: those of Keras's `fit`, and compiled
ones."""

from collections.abc import Callable, Iterable
from typing import Any

from traindx.capture.arrays.batch import Data
from traindx.capture.arrays.data import Array
from traindx.capture.session import Backend, Rate, Watched
from traindx.vocabulary import Fact


class BatchObserver:
    """Observes batches, which `array` brings to the host (None: no table of numbers)."""

    def __init__(self, view: Watched, array: Callable[[Any], Array | None]) -> None:
        self._view = view
        self.seconds = 0.0  # spent on readings of sampled steps
        self.data = Data(array, patient=view.patient)

    def facts(self) -> dict[str, Fact]:
        return self.data.facts()

    def release(self) -> None:
        self._view.facts_seen.update(self.data.references())


class ReportedBackend(Backend):
    """The parameters that one optimizer trains, in the framework's order, and the rate of the step just
    reported."""

    def __init__(self) -> None:
        self.trained: list[Any] = []
        self.rate: float | None = None

    def parameters_of(self, optimizer: Any) -> list[Any]:
        return self.trained

    def rates(self, optimizer: Any) -> list[float]:
        return [1.0 if self.rate is None else self.rate] * len(self.trained)

    def rate_signals(self, optimizer: Any) -> Iterable[Rate]:
        return [] if self.rate is None else [Rate("lr", self.rate)]
