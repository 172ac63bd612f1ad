"""One scalar signal, prepared once for all rules that read it."""

from collections.abc import Callable
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from traindx.features.statistics import difference_noise, median, residual_noise, trend
from traindx.vocabulary import EvidencePoint, Floats, Series, direction_of

T = TypeVar("T")


class Derived:
    """What several rules derive of one thing, computed at first use and kept."""

    def __init__(self) -> None:
        self._derived: dict[object, Any] = {}

    def derived(self, key: object, compute: Callable[[], T]) -> T:
        """What `compute` gives, kept under `key`."""
        if key not in self._derived:
            self._derived[key] = compute()
        kept: T = self._derived[key]
        return kept


class Curve(Derived):
    """A signal's finite points and what is derived from them.

    `steps[n]`, `values[n]`: the finite points in order. `raw`: the Series as it was logged.
    `sign` is -1 where higher is better; `as_loss` values are better when lower. Derived arrays
    are computed at first use and kept.
    """

    def __init__(self, name: str, raw: Series) -> None:
        super().__init__()
        self.name = name
        self.raw = raw
        finite = np.isfinite(raw.values)
        chosen = slice(None) if finite.all() else finite  # a slice copies nothing
        self.steps: Floats = raw.steps[chosen]
        self.values: Floats = raw.values[chosen]
        self.nonfinite_steps: Floats = raw.steps[~finite]
        self.sign = -1.0 if direction_of(name) == "higher" else 1.0

    @property
    def n(self) -> int:
        return len(self.values)

    @cached_property
    def as_loss(self) -> Floats:
        """`values[n]`, negated where higher is better."""
        return self.values * self.sign

    @cached_property
    def trend(self) -> Floats:
        """`oriented[n]` without its noise (robust running level)."""
        return trend(self.as_loss)

    @cached_property
    def noise(self) -> float:
        """Sigma of the point-to-point noise, blind to any smooth trend."""
        return difference_noise(self.values)

    @cached_property
    def spread(self) -> float:
        """Sigma around the trend: noise plus any slower wobble."""
        return residual_noise(self.as_loss, self.trend)

    @cached_property
    def span(self) -> float:
        """Range of the trend, the natural unit of this curve's progress; 0 for a constant."""
        return float(np.ptp(self.trend)) if self.n else 0.0

    @cached_property
    def start(self) -> float:
        """Level at the start (oriented): the median of the first few points, of a single one in short
        curves, as the trend is too slow for a steep first descent."""
        few = 1 if self.n < 20 else (3 if self.n < 300 else 5)
        return float(median(self.as_loss[:few])) if self.n else float("nan")

    @cached_property
    def end(self) -> float:
        """Level at the end (oriented): the median of the last twentieth of the points."""
        return (
            float(median(self.as_loss[-max(1, min(self.n // 3, max(3, self.n // 20))) :]))
            if self.n
            else float("nan")
        )

    @cached_property
    def best(self) -> float:
        """Lowest level of the trend (oriented)."""
        return float(self.trend.min()) if self.n else float("nan")

    @cached_property
    def best_index(self) -> int:
        return int(np.argmin(self.trend))

    def step_at(self, index: int) -> float:
        return float(self.steps[min(max(index, 0), self.n - 1)])

    def point(self, index: int, value: float | None = None, expected: float | None = None) -> EvidencePoint:
        """Evidence at one of the points: its value as logged, or an oriented level in its place;
        `expected` is an oriented level too."""
        shown = self.values[index] if value is None else value * self.sign
        return EvidencePoint(
            self.name,
            float(self.steps[index]),
            float(shown),
            None if expected is None else expected * self.sign,
        )

    def at_steps(self, steps: Floats) -> Floats:
        """Values of this signal at other steps: the last one logged at or before each (the first
        one, where there is none before)."""
        return self.values[np.clip(np.searchsorted(self.steps, steps, side="right") - 1, 0, self.n - 1)]
