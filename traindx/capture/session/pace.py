"""How often modules are measured: as often as the time they take allows, and more when it matters."""

from __future__ import annotations

import math

SHARE = 0.004  # of a run's time that per-module measuring may take
WARM = 5  # first steps: compilation, caches and allocators make them tell nothing of cost
BURST = 20  # steps in a row that are measured when something happens
BURST_SHARE = 0.1  # of all steps that may be measured for that reason
LONGEST = 1000  # steps between samples
START_SECONDS = 0.1  # of a run that may go into samples beyond that share, so that short runs have some
FAST, PHASES = 0.02, 8  # of steps shorter than so many seconds, every so-manieth is timed by its phases
START_PHASES = 100  # first steps that all are
START_SHARE = 0.1  # while it lasts, samples are at most this share of the step number apart


class Pace:
    """Decides which steps are sampled. `every`: a fixed interval, or None to adapt."""

    def __init__(self, every: int | None = None) -> None:
        self._every = every
        self._step_seconds, self._cost = 0.0, 0.0
        self._next = 0
        self._burst, self._bursts = 0, 0
        self._spent = 0.0

    def sampled(self, step: int) -> bool:
        """Whether the step that comes after `step` finished ones is measured."""
        if self._every is not None:
            return step % self._every == 0
        return self._burst > 0 or step >= self._next

    def stepped(self, step: int, seconds: float) -> None:
        """One step is over, and took `seconds` without what a sample adds."""
        if math.isfinite(seconds) and seconds > 0:
            weight = 0.1 if self._step_seconds else 1.0
            self._step_seconds += weight * (seconds - self._step_seconds)
        self._burst = max(0, self._burst - 1)

    def measured(self, step: int, cost: float) -> None:
        """Sampling `step` took `cost` seconds."""
        if step > WARM or not self._cost:
            weight = 0.3 if self._cost and step > WARM else 1.0
            self._cost += weight * (cost - self._cost)
        self._spent += cost
        early = max(1, int(START_SHARE * step)) if self._spent < START_SECONDS else LONGEST
        self._next = step + min(self.interval(), early) - 1  # so many steps are then finished

    def phases(self, step: int) -> bool:
        """Whether it is worth knowing where the time of the step after `step` finished ones goes: hooks for
        that cost 50 microseconds, which is much of a step of a few milliseconds."""
        fast = step >= START_PHASES and 0 < self._step_seconds < FAST
        return not fast or step % PHASES == 0 or self.sampled(step)

    def interval(self) -> int:
        """Steps between samples."""
        if self._every is not None:
            return self._every
        if not self._step_seconds:
            return 1
        return min(LONGEST, max(1, math.ceil(self._cost / (SHARE * self._step_seconds))))

    def look_closer(self, step: int) -> None:
        """Something happened: measure the next steps, as long as that stays rare."""
        if self._every is None and self._bursts + BURST <= max(BURST, BURST_SHARE * step):
            self._burst = BURST
            self._bursts += BURST
