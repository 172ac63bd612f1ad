"""A family of signals that are measured together, and the modules that parameters belong to."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from traindx.vocabulary import Floats, Ints

Panel = tuple[str, str, Floats]  # signal, modules joined by line feeds, one value a module
Shape = Literal["scalar", "by module"]
Due = Literal["step", "phase", "sample", "aside"]


class Cost(NamedTuple):
    """CPU time of one occasion on the machine of docs/benchmarks.md, with cold caches: `fixed` microseconds,
    `each` for every module or parameter looked at, `value` nanoseconds for each value that is read of
    them."""

    fixed: float
    each: float = 0.0
    value: float = 0.0

    def seconds(self, things: int = 0, values: int = 0) -> float:
        """Of one occasion."""
        return (self.fixed + self.each * things) * 1e-6 + self.value * values * 1e-9


class Modules(NamedTuple):
    """Parameters taken together by module: `names` joined by line feeds, for each parameter the place of its
    module among them, and its number of values."""

    names: str
    group: Ints
    sizes: Floats

    @property
    def number(self) -> int:
        return self.names.count("\n") + 1

    def summed(self, each: Floats) -> Floats:
        """`[modules]`: sums over the parameters of a module."""
        return np.asarray(np.bincount(self.group, weights=each), np.float64)

    def largest(self, each: Floats) -> Floats:
        """`[modules]`: the largest of a module."""
        most = np.full(self.number, -np.inf)
        np.maximum.at(most, self.group, each)
        return most

    def share(self, each: Floats) -> Floats:
        """`[modules]`: shares of parameters (NaN: not measured) as those of modules, weighted by size; NaN
        where none was measured."""
        there = np.isfinite(each)
        weight = self.summed(there * self.sizes)
        share = self.summed(np.where(there, each, 0) * self.sizes) / np.maximum(weight, 1)
        return np.where(weight > 0, share, np.nan)


@dataclass(frozen=True)
class Family:
    """`kind` names its readings. `due`: at every step, at steps that are timed by their phases, at sampled
    steps, or aside from them when something happens; `apart`: every so-manieth time of those. `optional`:
    left out where a recording must cost less, the most expensive first; `asks` are the causes that cannot be
    found without it. `by_parameter`: read of every parameter after the step, by the backend's reader of that
    kind."""

    kind: str
    signals: tuple[str, ...]
    shape: Shape
    due: Due
    cost: Cost
    apart: int = 1
    optional: bool = False
    asks: tuple[str, ...] = ()
    by_parameter: bool = False
    panels: Callable[[Any, Floats], Iterator[Panel]] | None = None
