"""Whether a log tells the cause at all."""

from __future__ import annotations

from collections.abc import Sequence

from traindx.vocabulary.diagnosis import Hypothesis
from traindx.vocabulary.rule import threshold


def undecided(
    hypotheses: Sequence[Hypothesis],
    *,
    told: float = threshold(
        0.3, "P(cause)", basis="convention", source="below it the rest is twice as likely"
    ),
) -> tuple[Hypothesis, ...]:
    """The two most probable faults where no cause, health among them, reaches a probability that says something;
    none where one does. A report then says that the log does not tell, names these two and what separates them."""
    if not hypotheses or max(h.probability for h in hypotheses) >= told:
        return ()
    faults = sorted((h for h in hypotheses if h.cause != "healthy"), key=lambda h: -h.probability)
    return tuple(faults[:2])
