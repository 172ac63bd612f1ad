"""Fitted weights: what many labelled runs add to the weights set by hand.

`python -m benchmarks.gym fit` writes `weights.json` from the signs of the gym's runs and records which
signs. The score of a cause is `scale` times its hand-set log-odds (`surprise` times those for findings
that it does not explain), plus `base`, plus a weight for every sign. Scale, surprise and base depend on
how much of the run was logged, because a rule that did not fire means more where more was measured.
"""

from collections.abc import Mapping
from functools import cache

import msgspec

from traindx.causes.ranking.distance import Temper
from traindx.causes.ranking.shipped import load_shipped
from traindx.causes.ranking.signs import CLEAR
from traindx.vocabulary import Run

VIEWS = ("loss", "validation", "gradients", "modules")


def view_of(run: Run) -> str:
    """How much of a run was logged: its loss alone, validation too, the gradient norm too, or every
    module."""
    if run.panels:
        return "modules"
    if any(n == "grad_norm" or n.startswith("grad_norm/") for n in run.series):
        return "gradients"
    return "validation" if any(n.startswith("val/") for n in run.series) else "loss"


class Fitted(msgspec.Struct, frozen=True):
    """`scale[view]` applies to what a cause explains, `surprise[view]` to what it does not.
    `base[view][cause]` and `weights[key][cause]` are log-odds, with keys as in `signs.values_of`.
    `temper` reduces the certainty about recordings that differ from the fitted runs. `data` is the
    SHA-256 of the signs that were fitted, `rows` their number, `date` the day."""

    scale: Mapping[str, float] = {}
    surprise: Mapping[str, float] = {}
    base: Mapping[str, Mapping[str, float]] = {}
    weights: Mapping[str, Mapping[str, float]] = {}
    temper: Temper = Temper()
    data: str = ""
    rows: int = 0
    date: str = ""


@cache
def fitted_weights() -> Fitted:
    """The shipped weights; empty where there is no file (then only the hand-set weights count)."""
    return load_shipped("weights", Fitted)


def fitted_terms(fit: Fitted, values: Mapping[str, float]) -> dict[str, dict[str, float]]:
    """cause -> sign -> what the fit adds to its log-odds. The aspects of a sign are counted with it."""
    terms: dict[str, dict[str, float]] = {}
    for key, value in values.items():
        for cause, weight in fit.weights.get(key, {}).items():
            terms_of_cause = terms.setdefault(cause, {})
            sign = sign_of(key)
            terms_of_cause[sign] = terms_of_cause.get(sign, 0.0) + weight * value
    return terms


def sign_of(key: str) -> str:
    """The key of the sign that a value belongs to."""
    bare = key.removeprefix(CLEAR)
    return bare if bare.startswith("fact:") else bare.partition(":")[0]
