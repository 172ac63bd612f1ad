"""What earlier outcomes say of a fix for a cause: Beta counts, capped, fading with age.

Basis: convention. An outcome counts half after half a year: libraries and habits change. All of them together count
as eight trials at most, so that a long past never outweighs what a run itself shows.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

HALF_LIFE = 180 * 86400.0  # seconds
CAP = 8.0  # trials
YES, NO = ("confirmed",), ("refuted", "harmful")


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """One trial as it is remembered: no data, no source, no path. `at`: seconds since the epoch; `setup` are facts
    such as the optimizer, `evidence` the slugs of the findings, `effect` a mean gain (see vocabulary.trial)."""

    at: float
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


def counts(outcomes: Iterable[Outcome], fix: str, cause: str, now: float) -> tuple[float, float]:
    """How often a fix was confirmed for a cause, and how often not, with the weights of their age and the cap."""
    yes = no = 0.0
    for one in outcomes:
        if one.fix == fix and one.cause == cause:
            weight = 0.5 ** (max(0.0, now - one.at) / HALF_LIFE)
            yes += weight * (one.verdict in YES)
            no += weight * (one.verdict in NO)
    scale = min(1.0, CAP / (yes + no)) if yes + no else 1.0
    return yes * scale, no * scale
