"""Whether a log shows the cause at all."""

from __future__ import annotations

from collections.abc import Sequence

from traindx.vocabulary.diagnosis import Hypothesis
from traindx.vocabulary.rule import threshold


def undecided(
    hypotheses: Sequence[Hypothesis],
    *,
    least: float = threshold(
        0.3, "P(cause)", basis="convention", source="below it the rest is twice as likely"
    ),
) -> tuple[Hypothesis, ...]:
    """The two most probable faults, if no cause (including `healthy`) reaches a probability of `least`;
    otherwise none.

    A report then says that it cannot tell the cause, and names these two and what would separate them."""
    if not hypotheses or max(h.probability for h in hypotheses) >= least:
        return ()
    faults = sorted((h for h in hypotheses if h.cause != "healthy"), key=lambda h: -h.probability)
    return tuple(faults[:2])
