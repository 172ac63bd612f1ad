"""How often rules and causes were right on the gym: `python -m benchmarks.gym fit` writes it, their
pages show it."""

from functools import cache

import msgspec

from traindx.causes.ranking.fitted import fitted_weights
from traindx.causes.ranking.shipped import load_shipped
from traindx.causes.ranking.signs import CLEAR
from traindx.vocabulary import Cause

SHOWN = 8  # signs for and against that a page lists
LISTED_FROM = 0.3  # log-odds; weaker signs are not listed


class RuleRecord(msgspec.Struct, frozen=True):
    """Recorded runs in which the rule fired, of those where it was evaluated: with one of its causes,
    and healthy."""

    fired: int
    faulty: int
    alarmed: int
    healthy: int


class CauseRecord(msgspec.Struct, frozen=True):
    """Recorded runs with the cause, and in how many it (or an equally right one) ranked first and among
    the first three, with that setting left out of the fit."""

    first: int
    three: int
    runs: int


class Records(msgspec.Struct, frozen=True):
    rules: dict[str, RuleRecord] = {}
    causes: dict[str, CauseRecord] = {}


@cache
def records() -> Records:
    return load_shipped("records", Records)


def rule_words(slug: str) -> str:
    """A rule's record in words; "" where it has none."""
    seen = records().rules.get(slug)
    if seen is None:
        return ""
    own = f"{seen.fired} of {seen.faulty} runs with one of these causes, and in " if seen.faulty else ""
    return f"fired in {own}{seen.alarmed} of {seen.healthy} healthy runs"


def cause_words(slug: str) -> str:
    """How often a cause was named in runs that have it, in words; "" where no such run is known."""
    seen = records().causes.get(slug)
    if seen is None:
        return ""
    return f"{seen.runs} with this cause: named first in {seen.first}, among the first three in {seen.three}"


def strongest_signs(cause: Cause) -> tuple[str, str]:
    """The strongest signs for and against a cause, from hand-set and fitted weights together, in words."""
    weights: dict[str, float] = {}
    for key, weight in cause.weights.items():
        weights[key] = weights.get(key, 0.0) + weight.fired
        if weight.clear:
            weights[f"no {key}"] = weight.clear
    for key, row in fitted_weights().weights.items():
        if cause.slug in row:
            shown = f"no {key.removeprefix(CLEAR)}" if key.startswith(CLEAR) else key
            weights[shown] = weights.get(shown, 0.0) + row[cause.slug]
    ordered = sorted(weights.items(), key=lambda item: (-abs(item[1]), item[0]))
    listed = [
        (f"{k.replace('fact:', '').replace('=', ' ')} {w:+.1f}", w)
        for k, w in ordered
        if abs(w) >= LISTED_FROM
    ]
    return ", ".join([t for t, w in listed if w > 0][:SHOWN]), ", ".join(
        [t for t, w in listed if w < 0][:SHOWN]
    )
