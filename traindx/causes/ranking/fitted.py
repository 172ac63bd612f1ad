"""Fitted weights: what many labelled runs added to the weights set by hand.

`weights.json` is written by `python -m benchmarks.gym fit` from the gym's signs, and says from which. A cause's
score is `scale` times its hand-set log-odds (`surprise` times those for findings that it does not explain), plus
`base`, plus a weight for every sign; scale, surprise and base hang on how much of the run is in view, for silence
means more where more was looked at.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Mapping
from functools import cache

import msgspec

from traindx.causes.ranking.distance import Temper
from traindx.causes.ranking.signs import CLEAR
from traindx.vocabulary.run import Run

FILE = "data/weights.json"


VIEWS = ("loss", "validation", "gradients", "modules")


def view_of(run: Run) -> str:
    """How much of a run is in view: its loss alone, validation too, the gradient norm too, or every module."""
    if run.panels:
        return "modules"
    if any(n == "grad_norm" or n.startswith("grad_norm/") for n in run.series):
        return "gradients"
    return "validation" if any(n.startswith("val/") for n in run.series) else "loss"


class Fitted(msgspec.Struct, frozen=True):
    """`scale[view]` of what a cause explains and `surprise[view]` of what it does not, `base[view][cause]` and
    `weights[key][cause]` in log-odds, keys as in `evidence.values_of`.
    `temper` is what distance from the fitted runs leaves of the certainty about a recording.
    `data` is the SHA-256 of the signs they were fitted on, `rows` how many there were, `date` when."""

    scale: Mapping[str, float] = {}
    surprise: Mapping[str, float] = {}
    base: Mapping[str, Mapping[str, float]] = {}
    weights: Mapping[str, Mapping[str, float]] = {}
    temper: Temper = Temper()
    data: str = ""
    rows: int = 0
    date: str = ""


@cache
def fitted() -> Fitted:
    """The weights that are shipped; none where there is no file (then only the hand-set ones count)."""
    try:
        data = pkgutil.get_data("traindx.causes", FILE)
    except FileNotFoundError:
        return Fitted()
    return msgspec.json.decode(data or b"{}", type=Fitted)


def added(fit: Fitted, values: Mapping[str, float]) -> dict[str, dict[str, float]]:
    """cause -> sign -> what the fit adds to its log-odds. A sign's aspects are counted with it."""
    terms: dict[str, dict[str, float]] = {}
    for key, value in values.items():
        for cause, weight in fit.weights.get(key, {}).items():
            own = terms.setdefault(cause, {})
            sign = sign_of(key)
            own[sign] = own.get(sign, 0.0) + weight * value
    return terms


def sign_of(key: str) -> str:
    """The key of the sign that a value belongs to."""
    bare = key.removeprefix(CLEAR)
    return bare if bare.startswith("fact:") else bare.partition(":")[0]
