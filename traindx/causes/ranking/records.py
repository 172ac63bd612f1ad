"""How right rules and causes were on the gym: written by `python -m benchmarks.gym fit`, shown on their pages."""

from __future__ import annotations

import pkgutil
from functools import cache

import msgspec

from traindx.causes.ranking.fitted import fitted
from traindx.causes.ranking.signs import CLEAR
from traindx.vocabulary.cause import Cause

FILE = "data/records.json"
SHOWN = 8  # signs for and against that a page lists
TOLD_FROM = 0.3  # log-odds from which a sign is listed


class RuleRecord(msgspec.Struct, frozen=True):
    """Recorded runs in which the rule fired, of those it could look at: with a cause it speaks for, and healthy."""

    fired: int
    faulty: int
    alarmed: int
    healthy: int


class CauseRecord(msgspec.Struct, frozen=True):
    """Recorded runs with the cause, and in how many it (or one as right) was first, and among three, when their
    setting was not in the fit."""

    first: int
    three: int
    runs: int


class Records(msgspec.Struct, frozen=True):
    rules: dict[str, RuleRecord] = {}
    causes: dict[str, CauseRecord] = {}


@cache
def records() -> Records:
    try:
        data = pkgutil.get_data("traindx.causes", FILE)
    except FileNotFoundError:
        return Records()
    return msgspec.json.decode(data or b"{}", type=Records)


def rule_words(slug: str) -> str:
    """A rule's record in words; "" where it has none."""
    seen = records().rules.get(slug)
    if seen is None:
        return ""
    own = f"{seen.fired} of {seen.faulty} runs with its causes, " if seen.faulty else ""
    return f"fired in {own}{seen.alarmed} of {seen.healthy} healthy runs"


def cause_words(slug: str) -> str:
    seen = records().causes.get(slug)
    return (
        f"first in {seen.first} and among three in {seen.three} of {seen.runs} recorded runs" if seen else ""
    )


def speaks(cause: Cause) -> tuple[str, str]:
    """The strongest signs for and against a cause, by hand and fitted together, in words."""
    weights: dict[str, float] = {}
    for key, weight in cause.weights.items():
        weights[key] = weights.get(key, 0.0) + weight.fired
        if weight.clear:
            weights[f"no {key}"] = weight.clear
    for key, row in fitted().weights.items():
        if cause.slug in row:
            shown = f"no {key.removeprefix(CLEAR)}" if key.startswith(CLEAR) else key
            weights[shown] = weights.get(shown, 0.0) + row[cause.slug]
    ordered = sorted(weights.items(), key=lambda item: (-abs(item[1]), item[0]))
    told = [
        (f"{k.replace('fact:', '').replace('=', ' ')} {w:+.1f}", w)
        for k, w in ordered
        if abs(w) >= TOLD_FROM
    ]
    return ", ".join([t for t, w in told if w > 0][:SHOWN]), ", ".join([t for t, w in told if w < 0][:SHOWN])
