"""What is known of one module of a run, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec


class Flag(msgspec.Struct, frozen=True):
    """A `word` for a narrow column, `why` in one clause, and whether it is `grave`: nothing of the kind is
    ever meant, or harmless."""

    word: str
    why: str
    grave: bool = False


class Course(msgspec.Struct, frozen=True, kw_only=True):
    """One signal of one module over the run, finite values only: the `first` and `last` one, medians of the
    first and last tenth of the steps and of all, `settled` after the first tenth and `ending` over the
    second half, the 5 % and 95 % quantiles, the extremes and the number of values."""

    first: float
    early: float
    median: float
    settled: float
    ending: float
    late: float
    last: float
    low: float
    high: float
    least: float
    most: float
    most_step: float
    values: int


class ModuleRow(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of one module. `depth` counts from 0 in the order in which the model holds its modules;
    `courses` is keyed by signal; `nonfinite` is the share of sampled rows with values that are not finite
    (None where that was not measured), `broke` the first such step; `silent` the smallest share of silent
    units in the second half of the run; `ends_nonfinite` whether the last row is one of them."""

    module: str
    depth: int
    courses: Mapping[str, Course] = {}
    nonfinite: float | None = None
    broke: float | None = None
    ends_nonfinite: bool = False
    silent: float | None = None
    flags: tuple[Flag, ...] = ()
