"""What earlier outcomes say about a fix for a cause: Beta counts, capped, fading with age.

Basis: convention. The weight of an outcome halves in half a year, because libraries and habits change.
Together they count as eight trials at most, so that a long past never outweighs what a run itself shows."""

from collections.abc import Iterable
from typing import Annotated

import msgspec

HALF_LIFE = 180 * 86400.0  # seconds
CAP = 8.0  # trials
YES, NO = ("confirmed",), ("refuted", "harmful")


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """One trial as it is remembered: no data, no source, no path. `at`: seconds since the epoch; `setup` are
    facts such as the optimizer, `evidence` the slugs of the findings, `effect` a mean gain (see
    vocabulary.trial)."""

    at: Annotated[float, msgspec.Meta(ge=0, lt=2**36)]  # to the year 4147: what a calendar can show
    project: str
    fix: str
    cause: str
    interventions: tuple[str, ...]
    verdict: str
    effect: float | None = None
    interval: tuple[float, float] | None = None
    setup: dict[str, str | float | int | bool] = {}
    evidence: tuple[str, ...] = ()
    version: str = ""


def factor(yes: float, no: float) -> float:
    """The factor on a cause's probability by earlier trials: the mean of Beta(1 + yes, 1 + no) over that of
    Beta(1, 1). With the cap it is between a fifth and nine fifths."""
    return 2 * (1 + yes) / (2 + yes + no)


def counts(outcomes: Iterable[Outcome], fix: str | None, cause: str, now: float) -> tuple[float, float]:
    """How often a fix (None: any) was confirmed for a cause, and how often not, weighted by age and
    capped."""
    yes = no = 0.0
    for one in outcomes:
        if fix in (None, one.fix) and one.cause == cause:
            weight = 0.5 ** (max(0.0, now - one.at) / HALF_LIFE)
            yes += weight * (one.verdict in YES)
            no += weight * (one.verdict in NO)
    scale = min(1.0, CAP / (yes + no)) if yes + no else 1.0
    return yes * scale, no * scale
