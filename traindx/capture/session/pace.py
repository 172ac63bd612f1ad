"""How often things are measured: as often as the time they take allows, and more when it matters.

A recording has a budget for all that capture does: a share of the run's time. What is done at every step
comes first, and samples get what that leaves of their own share. While the budget is exceeded, families of
signals are left out or measured less often. The first to go are those that cost most for each cause that
they can show."""

import math
from collections.abc import Iterable

from traindx.capture.signals import catalogue
from traindx.capture.signals.family import Family

BUDGET = 0.04  # of a run's time, for all of capture
SHARE = 0.004  # of a run's time that per-module measuring may take
WARM = 5  # first steps, whose cost is that of compilation, caches and allocators
BURST = 20  # steps in a row that are measured when something happens
BURST_SHARE = 0.1  # of all steps that may be measured for that reason
LONGEST = 1000  # steps between samples
START_SECONDS = 0.1  # of a run that may go into samples beyond that share, so that short runs have some
FAST, PHASES = 0.02, 8  # of steps shorter than so many seconds, every so-manieth is timed by its phases
START_PHASES = 100  # first steps that all are
LEAST = 0.1  # of their share that samples keep, whatever the rest takes
JUDGED = 200  # steps between judgements whether the budget is kept
SPREAD = 8  # steps that what is cheap to spread is spread over at most
START_SHARE = 0.1  # while it lasts, samples are at most this share of the step number apart
STAYS_SHARE = 0.5  # and later this: whatever a sample costs, the last third of a run has one
DISTURBED = (
    4.0  # times the cheapest sample: what a sample took beyond that, something else on the machine took
)


class Pace:
    """Decides which steps are sampled. `every`: a fixed interval, at which all is measured whatever it
    takes, or None to adapt. `budget`: the share of the run's time that capture may take."""

    def __init__(self, every: int | None = None, budget: float = BUDGET) -> None:
        self._every, self._budget = every, budget
        self._own, self._judged = 0.0, 0
        self._left_out: list[str] = []
        self.apart = 1  # steps between gradient norms that are not sampled
        self._step_seconds, self._cost, self._least = 0.0, 0.0, math.inf
        self._next = 0
        self._whole, self._whole_at = (
            True,
            0,
        )  # the next sample measures what is left out, too; the last that did
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

    def spent(self, step: int, seconds: float) -> str:
        """Of a step that was not sampled, capture took `seconds`. Returns what is done less often from now
        on."""
        if step <= START_PHASES or self._every is not None:
            return ""
        self._own += (0.02 if self._own else 1.0) * (seconds - self._own)
        self._judged += 1
        if self._judged < JUDGED or self._own <= self._budget * self._step_seconds:
            return ""
        self._judged = 0
        if "clock" not in self._left_out:
            self._left_out.append("clock")
            return "the phases of a step are not timed any more"
        if self.apart < SPREAD:
            self.apart *= 2
            return f"gradient norms are read at one step in {self.apart}"
        return ""

    def wants(self, kind: str) -> bool:
        """Whether a family of signals is measured. What is left out still has a few samples in a long run:
        a value of its beginning says nothing about its end."""
        return kind not in self._left_out or (self._whole and kind != "clock")

    def gradients(self, step: int) -> bool:
        """Whether gradient norms are read at the step after `step` finished ones."""
        return step % self.apart == 0 or self.sampled(step)

    def measured(self, step: int, cost: float) -> None:
        """Sampling `step` took `cost` seconds."""
        self._least = min(self._least, cost)
        cost = min(cost, DISTURBED * self._least)
        if step > WARM or not self._cost:
            weight = 0.3 if self._cost and step > WARM else 1.0
            self._cost += weight * (cost - self._cost)
        self._spent += cost
        early = max(1, int((START_SHARE if self._spent < START_SECONDS else STAYS_SHARE) * step))
        if (
            self._every is None
            and self._cost > LONGEST * self._share() * self._step_seconds > 0
            and step > WARM
        ):
            self._left_out += list(self._optional())[:1]
        self._next = step + min(self.interval(), early) - 1  # so many steps are then finished
        self._whole_at = step if self._whole else self._whole_at
        self._whole = self._next >= (1 + STAYS_SHARE) * self._whole_at

    def _optional(self) -> Iterable[str]:
        """Families of samples that may be left out, those that cost most for what they show first."""
        families = [
            f for f in catalogue() if f.optional and f.due == "sample" and f.kind not in self._left_out
        ]
        return (f.kind for f in sorted(families, key=causes_per_second))

    def _share(self) -> float:
        """What samples may take of a run's time."""
        rest = self._budget - self._own / self._step_seconds if self._step_seconds else self._budget
        return max(LEAST * min(SHARE, self._budget), min(SHARE, rest))

    def phases(self, step: int) -> bool:
        """Whether it is worth knowing where the time of the step after `step` finished ones goes: hooks for
        that cost 50 microseconds, which is much of a step of a few milliseconds."""
        if "clock" in self._left_out:
            return self.sampled(step)
        fast = step >= START_PHASES and 0 < self._step_seconds < FAST
        return not fast or step % PHASES == 0 or self.sampled(step)

    def interval(self) -> int:
        """Steps between samples."""
        if self._every is not None:
            return self._every
        if not self._step_seconds:
            return 1
        return min(LONGEST, max(1, math.ceil(self._cost / (self._share() * self._step_seconds))))

    def sample_next_steps(self, step: int) -> None:
        """Something happened: measure the next steps, as long as that stays rare."""
        if self._every is None and self._bursts + BURST <= max(BURST, BURST_SHARE * step):
            self._burst = BURST
            self._bursts += BURST

    @property
    def left_out(self) -> tuple[str, ...]:
        """Families that the budget does not allow."""
        return tuple(self._left_out)


def causes_per_second(family: Family) -> float:
    """Causes that a family can show, for each second that it costs in a net of fifty modules."""
    return len(family.asks) / family.cost.seconds(50, 50 * 1024)
