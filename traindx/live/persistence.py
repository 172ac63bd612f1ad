"""How long a finding must last before it is reported while a run trains."""

from __future__ import annotations

from typing import NamedTuple

from traindx.vocabulary.diagnosis import Finding


class Persistence(NamedTuple):
    """Seen first at n points, a finding counts once the run has `growth` * n points and at least n + `points`."""

    growth: float
    points: int

    def met(self, since: int, now: int) -> bool:
        return now >= max(since * self.growth, since + self.points)


AT_ONCE = Persistence(1.0, 0)  # one value that is not finite proves it
BRIEF = Persistence(1.15, 5)  # an outlier is over by then
# A loss that rises for a while, as after a restart or a larger rate, comes back.
RISING = Persistence(1.2, 20)
LONG = Persistence(5.0, 300)  # "has not learned yet" is true of every run at its start
MILD_RISE = 1.5  # a signal below so many times its earlier level is as often a warm-up that it gets over

# Most findings are BRIEF. These say that something has not happened yet, or grows and shrinks as a run goes on.
SLOW = frozenset({
    "loss-flat-from-start", "loss-at-chance", "loss-plateaus", "losses-stay-high", "loss-falls-slowly",
    "validation-gap-grows", "metric-constant-or-impossible", "loss-oscillates",
})  # fmt: skip
TURNING = frozenset(
    {"loss-diverges", "gradient-norm-grows", "weights-grow-unbounded", "loss-spikes-then-fails"}
)
SUDDEN = frozenset({
    "loss-not-finite", "gradient-not-finite", "activations-not-finite", "inputs-not-finite", "out-of-memory",
    "checkpoint-not-finite",
})  # fmt: skip


def persistence_of(finding: Finding) -> Persistence:
    if finding.slug in SUDDEN:
        return AT_ONCE
    if finding.slug in TURNING:
        return LONG if is_mild(finding) else RISING
    return LONG if finding.slug in SLOW else BRIEF


def is_mild(finding: Finding) -> bool:
    """Whether a signal is less than `MILD_RISE` times as high as it was."""
    ratios = [abs(point.value / point.expected) for point in finding.evidence if point.expected]
    return bool(ratios) and ratios[-1] < MILD_RISE
