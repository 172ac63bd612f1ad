"""A training run as it was recorded: frozen, its arrays write-protected."""

from collections.abc import Mapping
from typing import Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from traindx.vocabulary.setup import Setup

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

EventKind = Literal[
    "restart",  # a new run begins in the same file
    "resume",  # the same run goes on from an earlier step
    "gap",  # steps are missing in the middle
    "skipped-step",  # the optimizer did not step (loss scale overflow)
    "parse-warning",  # something in the file was damaged; what is whole was kept
    "log-suspect",  # the log itself may be wrong (filtered NaN, running mean ...)
    "crash",  # the log shows an exception that ended the run
    "out-of-memory",
    "stopped",  # ended early on purpose (Ctrl-C, time limit)
    "phase",  # a declared change: new stage, unfreezing, batch-size ramp ...
    "note",
]
ENDINGS: tuple[EventKind, ...] = ("crash", "out-of-memory", "stopped")


class Series(msgspec.Struct, frozen=True, eq=False):
    """One scalar signal: `steps[n]` (float64, ascending), `values[n]` (float64, may hold NaN and
    infinities), `times[n]` (float64, seconds since the epoch) or None."""

    steps: Floats
    values: Floats
    times: Floats | None = None

    def __len__(self) -> int:
        return len(self.values)


class Panel(msgspec.Struct, frozen=True, eq=False):
    """One per-module signal: `steps[n]`, `modules[m]`, `values[n, m]` (float64)."""

    steps: Floats
    modules: tuple[str, ...]
    values: Floats


class Event(msgspec.Struct, frozen=True):
    """Something that happened to the run or to its log. `place` is where in the source it was
    seen ("line 12", "record 40"); `code` is a stable word for events that rules read."""

    kind: EventKind
    message: str
    step: float | None = None
    place: str = ""
    code: str = ""


STANDARD_INPUT = "standard input"  # the source of a run that was piped or pasted
TREES = frozenset({"catboost", "xgboost", "lightgbm"})


class Run(msgspec.Struct, frozen=True, eq=False, kw_only=True):
    """One training run. `series` and `panels` are keyed by canonical signal names
    (see `signals`), `originals` says what each was called in the source."""

    id: str
    source: str
    format: str
    framework: str | None = None
    axis: str = "step"
    series: Mapping[str, Series] = {}
    panels: Mapping[str, Panel] = {}
    originals: Mapping[str, str] = {}
    events: tuple[Event, ...] = ()
    setup: Setup = Setup()
    complete: bool | None = None

    @property
    def boosted(self) -> bool:
        """Whether trees are grown in rounds: there are no layers, batches or gradients."""
        return self.axis == "round" or self.format == "boosting" or (self.framework or "").lower() in TREES

    @property
    def first_step(self) -> float | None:
        return min((float(s.steps[0]) for s in self.series.values() if len(s)), default=None)

    @property
    def last_step(self) -> float | None:
        return max((float(s.steps[-1]) for s in self.series.values() if len(s)), default=None)

    def says(self, slug: str) -> bool:
        """Whether the author of a question about this run says what the rule `slug` would see."""
        return slug in self.setup.word("symptoms").split(",")

    @property
    def points(self) -> int:
        """Points of the longest series."""
        return max((len(s) for s in self.series.values()), default=0)


def frozen_array(values: object) -> Floats:
    """A float64 copy (or the same array, if it already is one) that cannot be written to."""
    array = np.ascontiguousarray(values, dtype=np.float64)
    array.setflags(write=False)
    return array


def series(steps: object, values: object, times: object | None = None) -> Series:
    """Build a Series with write-protected arrays. `steps` must be ascending already."""
    return Series(
        frozen_array(steps),
        frozen_array(values),
        None if times is None else frozen_array(times),
    )
