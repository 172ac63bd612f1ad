"""What a measurement costs a person or a machine, in minutes: answering, running the script, or a part of a run.

The script's own time comes from its log where that has a clock; everything else is a declared figure.
"""

from __future__ import annotations

import math

import msgspec
import numpy as np

from traindx.features.performance.level_shifts import durations
from traindx.features.shared import Features
from traindx.features.statistics.medians import median
from traindx.vocabulary.run import Run

# Basis: convention. Looking up one fact about the script; adding one line of logging to it; going through a hundred
# samples; a run whose log has no clock.
ANSWER, EDIT, LOOK, TYPICAL_RUN = 1.0, 1.0, 10.0, 60.0
# Basis: measured (docs/check.md): five starts of small scripts took 22 to 35 s, most of it Python with PyTorch.
START = 0.1
CHECK_STARTS, CHECK_STEPS, CHECK_MOST = (
    5,
    1300,
    2.0,
)  # of `traindx check`: starts, their steps, minutes (--budget)
SWEEP_STARTS, SWEEP_STEPS = 2, 400  # of `traindx find-lr`: two seeds of 200 steps
LEAST_STEPS = 300  # an experiment has at least so many, as those of `traindx check`
BEYOND = 1.2  # and goes a fifth beyond the step at which the finding began
TIMES = 8  # of a step, at least: fewer may as well be the time since the start (features.systems.is_clock)
PAUSE = 20.0  # times the usual time between two rows: what is longer is a pause, and counts as that


class Clock(msgspec.Struct, frozen=True):
    """Minutes of one run of the script; `told` when its log says so, else a typical figure. `steps` are those that the
    log covers, from step `first` on, or None where its axis does not count steps."""

    minutes: float
    told: bool
    steps: float | None
    first: float = 0.0

    @property
    def check(self) -> float:
        """Minutes of `traindx check`."""
        return (
            CHECK_MOST
            if self.step is None
            else min(CHECK_STARTS * START + CHECK_STEPS * self.step, CHECK_MOST)
        )

    @property
    def find_lr(self) -> float:
        """Minutes of `traindx find-lr`."""
        return SWEEP_STARTS * START + (
            self.part(SWEEP_STEPS) if self.step is None else SWEEP_STEPS * self.step
        )

    @property
    def step(self) -> float | None:
        """Minutes of one step, where they can be told."""
        return self.minutes / self.steps if self.told and self.steps else None

    def part(self, steps: float | None) -> float:
        """Minutes of the first `steps` of the run (None: of all of it), without the start."""
        return (
            self.minutes if steps is None or not self.steps else self.minutes * min(steps / self.steps, 1.0)
        )

    def reach(self, onset: float | None) -> int | None:
        """How many steps show whether a finding that began at step `onset` comes back; None: the whole run."""
        if onset is None or self.steps is None:
            return None
        steps = max(LEAST_STEPS, math.ceil(BEYOND * (onset - self.first)))
        return steps if steps < self.steps else None


def clock_of(run: Run, features: Features) -> Clock:
    """How long the run took: by the times of its rows, else by the time of a step or an epoch."""
    steps, first = covered(run)
    seconds = max((span(s.times) for s in run.series.values() if s.times is not None), default=0.0)
    if seconds <= 0:
        took = durations(features)
        if took.signal == "time/step" and len(took.seconds) >= TIMES:
            seconds = float(median(took.seconds)) * (steps or run.points)
    if not (0 < seconds < math.inf):
        return Clock(TYPICAL_RUN, False, steps, first)
    return Clock(seconds / 60, True, steps, first)


def covered(run: Run) -> tuple[float | None, float]:
    """How many steps the rows stand for, each for those since the row before, and the step before the first of them."""
    first, last = run.first_step, run.last_step
    if run.axis != "step" or first is None or last is None or last <= first or run.points < 2:
        return None, 0.0
    steps = (last - first) * (1 + 1 / (run.points - 1))
    return steps, last - steps


def span(times: object) -> float:
    """Seconds from the first to the last of `times[n]` and the time of one row more, without pauses; 0 where they do
    not tell."""
    passed = np.diff(np.asarray(times, dtype=np.float64))
    passed = passed[np.isfinite(passed) & (passed >= 0)]
    if not len(passed) or passed.max() == 0:
        return 0.0
    usual = float(median(passed[passed > 0]))
    passed = np.minimum(passed, PAUSE * usual)
    return float(passed.sum()) * (1 + 1 / len(passed))


def cost_of(how: str, clock: Clock) -> float:
    """Minutes that following `how` takes: a command, a fact to be told, or words."""
    if "traindx check" in how:
        return clock.check
    if "traindx find-lr" in how:
        return clock.find_lr
    if how.startswith("--fact") and "log" not in how:
        return ANSWER * how.count("--fact")
    run = START + clock.part(steps_in(how))
    if how.startswith("traindx run"):
        return run
    return run + (LOOK if how.startswith("look") else EDIT)


def steps_in(how: str) -> int | None:
    """The number behind `--steps` in a command."""
    words = how.split()
    return int(words[words.index("--steps") + 1]) if "--steps" in words[:-1] else None
