"""What a measurement costs in minutes: answering a question, running the script, or running a part of it.

The time of the script comes from its log where that has a clock; everything else is a declared figure.
"""

import math

import msgspec
import numpy as np

from traindx.features.performance.level_shifts import durations
from traindx.features.shared import Features
from traindx.features.statistics import median
from traindx.vocabulary import Run

# Set by hand: looking up one fact about the script, adding one line of logging, inspecting a hundred
# samples, and a run whose log has no clock.
ANSWER, EDIT, LOOK, TYPICAL_RUN = 1.0, 1.0, 10.0, 60.0
# Measured (docs/check.md): five starts of small scripts took 22 to 35 s, mostly importing PyTorch.
START = 0.1
# `traindx check`: starts, their steps, and at most so many minutes (--budget)
CHECK_STARTS, CHECK_STEPS, CHECK_MOST = 5, 1300, 2.0
SWEEP_STARTS, SWEEP_STEPS = 2, 400  # `traindx find-lr`: two seeds of 200 steps
LEAST_STEPS = 300  # an experiment has at least as many as those of `traindx check`
BEYOND = 1.2  # an experiment continues a fifth beyond the step at which the finding began
TIMES = 8  # with fewer step times, the numbers may also be times since the start
PAUSE = 20.0  # times the usual time between two rows; a longer one is a pause, and counts as this much


class Clock(msgspec.Struct, frozen=True):
    """Minutes of one run of the script: `timed` if they are from its log, otherwise a typical figure.
    `steps` are those that the log covers, from step `first` on, or None where its axis does not count
    steps."""

    minutes: float
    timed: bool
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
        """Minutes of one step; None where the log does not show them."""
        return self.minutes / self.steps if self.timed and self.steps else None

    def part(self, steps: float | None) -> float:
        """Minutes of the first `steps` of the run (None: of the whole run), without the start."""
        return (
            self.minutes if steps is None or not self.steps else self.minutes * min(steps / self.steps, 1.0)
        )

    def reach(self, onset: float | None) -> int | None:
        """How many steps show whether a finding that began at step `onset` recurs; None for the whole
        run."""
        if onset is None or self.steps is None:
            return None
        steps = max(LEAST_STEPS, math.ceil(BEYOND * (onset - self.first)))
        return steps if steps < self.steps else None


def clock_of(run: Run, features: Features) -> Clock:
    """How long the run took: by the times of its rows, otherwise by the time of a step or an epoch."""
    steps, first = covered_steps(run)
    seconds = max((span(s.times) for s in run.series.values() if s.times is not None), default=0.0)
    if seconds <= 0:
        took = durations(features)
        if took.signal == "time/step" and len(took.seconds) >= TIMES:
            seconds = float(median(took.seconds)) * (steps or run.points)
    if not (0 < seconds < math.inf):
        return Clock(TYPICAL_RUN, False, steps, first)
    return Clock(seconds / 60, True, steps, first)


def covered_steps(run: Run) -> tuple[float | None, float]:
    """How many steps the rows cover, each counting those since the row before, and the step before the
    first of them."""
    first, last = run.first_step, run.last_step
    if run.axis != "step" or first is None or last is None or last <= first or run.points < 2:
        return None, 0.0
    steps = (last - first) * (1 + 1 / (run.points - 1))
    return steps, last - steps


def span(times: object) -> float:
    """Seconds from the first to the last of `times[n]`, plus one row, without pauses; 0 where the times
    do not show it."""
    passed = np.diff(np.asarray(times, dtype=np.float64))
    passed = passed[np.isfinite(passed) & (passed >= 0)]
    if not len(passed) or passed.max() == 0:
        return 0.0
    usual = float(median(passed[passed > 0]))
    passed = np.minimum(passed, PAUSE * usual)
    return float(passed.sum()) * (1 + 1 / len(passed))


def cost_of(how: str, clock: Clock) -> float:
    """Minutes that following `how` takes: a command, a fact, or an instruction in words."""
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
    """The number after `--steps` in a command."""
    words = how.split()
    return int(words[words.index("--steps") + 1]) if "--steps" in words[:-1] else None
