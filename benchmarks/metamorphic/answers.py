"""What a reader of a page takes from it, and where two answers differ."""

from __future__ import annotations

from typing import NamedTuple

from traindx import pipeline
from traindx.vocabulary.run import Run

LOUD = ("critical", "high", "medium")
NAMED = 0.5  # probability from which a page names one cause
SURE = 0.65  # from which it says "probably"
NEAR = 0.05  # of the length of the run, by which an onset may move


class Answer(NamedTuple):
    """`slug` and `onset` are those of the first finding that is more than a low one. `span`: steps of the run."""

    health: str
    cause: str
    probability: float
    slug: str
    onset: float | None
    span: float
    findings: tuple[str, ...]


def answer(run: Run) -> Answer:
    diagnosis = pipeline.diagnose(run).first
    top = diagnosis.hypotheses[0] if diagnosis.hypotheses else None
    loud = [f for f in diagnosis.findings if f.severity in LOUD and f.consequence_of is None]
    return Answer(
        diagnosis.health,
        top.cause if top else "",
        top.probability if top else 0.0,
        loud[0].slug if loud else "",
        loud[0].onset_step if loud else None,
        (run.last_step or 0.0) - (run.first_step or 0.0),
        tuple(f"{f.slug} ({f.severity})" for f in diagnosis.findings),
    )


def flipped(one: Answer, other: Answer) -> bool:
    """Whether one run is called healthy and the other one ill."""
    ill = [a.health in ("sick", "failed") for a in (one, other)]
    return "healthy" in (one.health, other.health) and ill[0] != ill[1]


def differences(one: Answer, other: Answer, *, strict: bool, scale: float = 1.0) -> list[str]:
    """Kinds of difference. `strict`: the health has to be the same, not only no flip, and a cause that one of them
    names; else a cause of which both are sure. `scale`: steps of the other run for one of this."""
    found = []
    if flipped(one, other):
        found.append("flip")
    elif strict and one.health != other.health:
        found.append("health")
    if strict:
        named = max(one.probability, other.probability) >= NAMED
    else:
        named = min(one.probability, other.probability) >= SURE
    if named and one.cause != other.cause:
        found.append("cause")
    if one.slug and one.slug == other.slug and one.onset is not None and other.onset is not None:
        room = (NEAR if strict else 2 * NEAR) * max(one.span, 1.0)
        if abs(one.onset - other.onset / scale) > room:
            found.append("onset")
    return found
