"""How long a finding must last before it is reported while a run trains."""

import math
from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from traindx import rules
from traindx.vocabulary import Finding, PersistenceKind


class Persistence(NamedTuple):
    """Seen first at n points, a finding counts once the run has `growth` * n points and at least n + `points`."""

    growth: float
    points: int

    def met(self, since: int, now: int) -> bool:
        return now >= self.end(since)

    def end(self, since: int) -> int:
        """The points at which it has lasted long enough."""
        return max(math.ceil(since * self.growth), since + self.points)


AT_ONCE = Persistence(1.0, 0)
SLOW = Persistence(5.0, 300)
MILD_RISE = 1.5  # a signal below so many times its earlier level is as often a warm-up that it gets over
# What a rule declares, in points of the run. A loss that rises for a while, as after a restart or with a larger rate,
# comes back: 20 points, not 5. Measured by `python -m benchmarks.streams`.
NEEDED: Mapping[PersistenceKind, Persistence] = {
    "at-once": AT_ONCE,
    "brief": Persistence(1.15, 5),
    "turning": Persistence(1.2, 20),
    "steady": Persistence(5.0, 50),
    "slow": SLOW,
}


def persistence_of(finding: Finding) -> Persistence:
    """How long a finding of this rule must last."""
    kind = persistence_kinds().get(finding.slug, "brief")
    return SLOW if kind == "turning" and is_mild(finding) else NEEDED[kind]


@cache
def persistence_kinds() -> Mapping[str, PersistenceKind]:
    return {rule.slug: rule.persistence for rule in rules.list_entries()}


def persistence_words(kind: PersistenceKind) -> str:
    """What a rule's page says of it."""
    words = span_words(NEEDED[kind])
    if kind == "turning":
        return f"{words}; a rise to less than {MILD_RISE:g} times the earlier level {span_words(SLOW)}"
    return words


def span_words(needed: Persistence) -> str:
    if needed == AT_ONCE:
        return "at once"
    return (
        f"once it has persisted for {100 * (needed.growth - 1):.0f} % more points (at least {needed.points})"
    )


def is_mild(finding: Finding) -> bool:
    """Whether a signal is less than `MILD_RISE` times as high as it was."""
    ratios = [abs(point.value / point.expected) for point in finding.evidence if point.expected]
    return bool(ratios) and ratios[-1] < MILD_RISE
