"""Fits the ranking's weights on the gym's signs: additive log-odds, as close to the hand-set ones as the runs allow.

The score of a cause is `scale` times its hand-set log-odds (`surprise` times what it loses for findings that it does
not explain) plus an intercept plus a weight for every sign; the weights
are drawn towards zero (that is, the sum towards what a person wrote). What clear rules say stays as it was set by hand.
Fitted by maximum likelihood over all levels of information.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from traindx.causes.catalogue import catalogue
from traindx.causes.ranking.fitted import VIEWS
from traindx.causes.ranking.signs import CLEAR
from traindx.vocabulary.cause import Cause

BY_HAND = {
    "unbalanced-loss-terms",
    "unbalanced-opponents",
    "unstable-bootstrapping",
}  # only runs of benchmarks.kinds have them

Floats = NDArray[np.float64]
# Basis: measured, by cross-validation by setting (0.002 to 0.03), and on real logs for what logs show. The gym has
# as many runs of a rare cause as of a common one: what a log shows of it may only nudge what is known of the world.
RIDGE, RIDGE_LOGS, RIDGE_BASE, RIDGE_SCALE = 0.004, 0.03, 0.05, 1.0
HARMLESS = 0.0  # how much a run with a fault without harm counts
LEVEL_WEIGHT = {"program": 12.0, "capture": 1.0, "capture-data": 0.3, "capture-loop": 0.3}
PAIR_SHARE = 0.5
KEPT_FROM = 0.02  # log-odds below which a weight is not shipped
OF_THE_TASK = (
    "loss-first=",
    "loss-last=",
)  # the loss as a number tells the task rather than the fault: no weights
RARE = 4  # rows in which a key must occur to have weights


@dataclass(frozen=True)
class Table:
    """Rows as arrays: `signs[n, k]`, `hand[n, c]`, right causes as masks `right[n, c]`, `second[n, c]` (the other
    fault's of a pair), `weight[n]`, `group[n]` for folds."""

    rows: Sequence[dict[str, Any]]
    keys: tuple[str, ...]
    causes: tuple[str, ...]
    views: Floats
    signs: Floats
    hand: Floats
    rest: Floats
    right: NDArray[np.bool_]
    second: NDArray[np.bool_]
    weight: Floats

    def part(self, chosen: NDArray[np.intp]) -> Table:
        rows = [self.rows[i] for i in chosen]
        arrays = (self.views, self.signs, self.hand, self.rest, self.right, self.second, self.weight)
        return Table(rows, self.keys, self.causes, *(a[chosen] for a in arrays))


def fitted_causes() -> list[Cause]:
    """Those of which the gym has runs, or could have."""
    return [cause for cause in catalogue() if cause.slug not in BY_HAND]


def table(rows: Sequence[dict[str, Any]], causes: Sequence[str], keys: Sequence[str] | None = None) -> Table:
    """Arrays of rows; without `keys` those that occur in enough rows."""
    if keys is None:
        counts: dict[str, int] = {}
        for row in rows:
            for key in row["signs"]:
                counts[key] = counts.get(key, 0) + (not key.startswith((CLEAR, *OF_THE_TASK)))
        keys = sorted(k for k, n in counts.items() if n >= RARE)
    place, column = {k: i for i, k in enumerate(keys)}, {c: i for i, c in enumerate(causes)}
    shape = (len(rows), len(causes))
    signs, rest = np.zeros((len(rows), len(keys))), np.zeros(shape)
    known = {c.slug: c.prior for c in catalogue()}
    hand = np.tile(
        [known.get(c, 0.0) for c in causes], (len(rows), 1)
    )  # a cause younger than a row has its prior
    right, second, weight = np.zeros(shape, bool), np.zeros(shape, bool), np.ones(len(rows))
    for i, row in enumerate(rows):
        for key, value in row["signs"].items():
            if key in place:
                signs[i, place[key]] = value
        for cause, value in row["hand"].items():
            hand[i, column[cause]] = value
        for cause, value in row["rest"].items():
            rest[i, column[cause]] = value
        other = set(row.get("second") or ())
        for cause in row["causes"]:
            right[i, column[cause]] = cause not in other
            second[i, column[cause]] = cause in other
        weight[i] = LEVEL_WEIGHT.get(row["level"], 1.0) * (HARMLESS if row["verdict"] == "harmless" else 1.0)
    views = np.array([[float(row["view"] == v) for v in VIEWS] for row in rows])
    return Table(rows, tuple(keys), tuple(causes), views, signs, hand, rest, right, second, weight)


@dataclass(frozen=True)
class Model:
    """`scale[v]` and `surprise[v]` of the hand-set log-odds and `base[v, c]` for each view, `weights[k, c]` of
    signs."""

    keys: tuple[str, ...]
    causes: tuple[str, ...]
    scale: Floats
    surprise: Floats
    base: Floats
    weights: Floats

    def scores(self, t: Table) -> Floats:
        scale, surprise = (t.views @ self.scale)[:, None], (t.views @ self.surprise)[:, None]
        return np.asarray(scale * t.hand + surprise * t.rest + t.views @ self.base + t.signs @ self.weights)

    def probabilities(self, t: Table) -> Floats:
        return softmax(self.scores(t))


def softmax(scores: Floats) -> Floats:
    e = np.exp(scores - scores.max(1, keepdims=True))
    return np.asarray(e / e.sum(1, keepdims=True))


def loss_of(scores: Floats, t: Table) -> tuple[float, Floats]:
    """Weighted negative log-likelihood of the right causes, and its gradient by the scores."""
    p = softmax(scores)
    total, slope = 0.0, np.zeros_like(p)
    paired = t.second.any(1)
    for mask, share in (
        (t.right, np.where(paired, 1 - PAIR_SHARE, 1.0)),
        (t.second, np.where(paired, PAIR_SHARE, 0.0)),
    ):
        mass = np.maximum((p * mask).sum(1), 1e-12)
        w = t.weight * share
        total -= float((w * np.log(mass)).sum())
        slope += w[:, None] * (p - p * mask / mass[:, None])
    return total / len(p), slope / len(p)


def ridges(t: Table, recorded: float, logged: float) -> Floats:
    """The ridge of each key: `recorded` for what only recordings show, else `logged`."""
    shown = (t.signs * (1 - t.views[:, VIEWS.index("modules")])[:, None]).any(0)
    return np.where(shown, logged, recorded)


def fit(t: Table, recorded: float = RIDGE, logged: float = RIDGE_LOGS, steps: int = 120) -> Model:
    """The model that explains the table best under the ridge."""
    from scipy.optimize import minimize

    n_keys, n_causes, n_views = len(t.keys), len(t.causes), len(VIEWS)
    ridge = ridges(t, recorded, logged)[:, None]
    turned = np.ascontiguousarray(t.signs.T.astype(np.float32))
    two, cut = 2 * n_views, 2 * n_views + n_views * n_causes

    def unpack(x: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        base, weights = x[two:cut].reshape(n_views, n_causes), x[cut:].reshape(n_keys, n_causes)
        return x[:n_views], x[n_views:two], base, weights

    def objective(x: Floats) -> tuple[float, Floats]:
        scale, surprise, base, weights = unpack(x)
        scores = Model(t.keys, t.causes, scale, surprise, base, weights).scores(t)
        total, slope = loss_of(scores, t)
        total += 0.5 * (float((ridge * weights**2).sum()) + RIDGE_BASE * float((base**2).sum()))
        total += 0.5 * RIDGE_SCALE * float(((scale - 1) ** 2).sum() + ((surprise - 1) ** 2).sum())
        of_scale = t.views.T @ (slope * t.hand).sum(1) + RIDGE_SCALE * (scale - 1)
        of_surprise = t.views.T @ (slope * t.rest).sum(1) + RIDGE_SCALE * (surprise - 1)
        of_base = t.views.T @ slope + RIDGE_BASE * base
        of_weights = turned @ slope.astype(np.float32) + ridge * weights
        return total, np.concatenate([of_scale, of_surprise, of_base.ravel(), of_weights.ravel()])

    start = np.zeros(cut + n_keys * n_causes)
    start[:two] = 0.8
    bounds = [(0.05, 2.0)] * two + [(None, None)] * (len(start) - two)
    found = minimize(
        objective, start, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": steps}
    )
    return Model(t.keys, t.causes, *unpack(found.x))


def shipped(model: Model, data: str, rows: int, date: str) -> dict[str, Any]:
    """The model as `weights.json` keeps it: weights that matter, rounded."""
    weights: dict[str, dict[str, float]] = {}
    for key, row in zip(model.keys, model.weights, strict=True):
        kept = {c: round(float(w), 3) for c, w in zip(model.causes, row, strict=True) if abs(w) >= KEPT_FROM}
        if kept:
            weights[key] = kept
    base = {
        view: {c: round(float(b), 3) for c, b in zip(model.causes, row, strict=True)}
        for view, row in zip(VIEWS, model.base, strict=True)
    }
    scale, surprise = ({view: round(float(s), 3) for view, s in zip(VIEWS, each, strict=True)}
                       for each in (model.scale, model.surprise))  # fmt: skip
    return {"script": "python -m benchmarks.gym fit", "date": date, "data": data, "rows": rows, "scale": scale,
            "surprise": surprise, "base": base, "weights": weights}  # fmt: skip
