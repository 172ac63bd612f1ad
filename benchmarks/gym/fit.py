"""Fits the ranking's weights on the gym's signs: additive log-odds, as close to the hand-set ones as the runs allow.

The score of a cause is `scale` times its hand-set log-odds plus an intercept plus a weight for every sign; the weights
are drawn towards zero (that is, the sum towards what a person wrote), those of clear rules more strongly, and a
weight is not allowed to turn a hand-set one around. Fitted by maximum likelihood over all levels of information.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
# Basis: convention; chosen by cross-validation by setting among 0.003 .. 0.3.
RIDGE, RIDGE_CLEAR, RIDGE_BASE = 0.02, 0.06, 0.02
HARMLESS = 0.0  # how much a run with a fault without harm counts
LEVEL_WEIGHT = {"capture": 1.0, "capture-data": 0.3, "capture-loop": 0.3}
PAIR_SHARE = 0.5
RARE = 4  # rows in which a key must occur to have weights


@dataclass(frozen=True)
class Table:
    """Rows as arrays: `signs[n, k]`, `hand[n, c]`, right causes as masks `right[n, c]`, `second[n, c]` (the other
    fault's of a pair), `weight[n]`, `group[n]` for folds."""

    rows: Sequence[dict[str, Any]]
    keys: tuple[str, ...]
    causes: tuple[str, ...]
    signs: Floats
    hand: Floats
    right: NDArray[np.bool_]
    second: NDArray[np.bool_]
    weight: Floats

    def part(self, chosen: NDArray[np.intp]) -> Table:
        rows = [self.rows[i] for i in chosen]
        return Table(rows, self.keys, self.causes, self.signs[chosen], self.hand[chosen], self.right[chosen],
                     self.second[chosen], self.weight[chosen])  # fmt: skip


def table(rows: Sequence[dict[str, Any]], causes: Sequence[str], keys: Sequence[str] | None = None) -> Table:
    """Arrays of rows; without `keys` those that occur in enough rows."""
    if keys is None:
        counts: dict[str, int] = {}
        for row in rows:
            for key in row["signs"]:
                counts[key] = counts.get(key, 0) + 1
        keys = sorted(k for k, n in counts.items() if n >= RARE)
    place, column = {k: i for i, k in enumerate(keys)}, {c: i for i, c in enumerate(causes)}
    shape = (len(rows), len(causes))
    signs, hand = np.zeros((len(rows), len(keys))), np.zeros(shape)
    right, second, weight = np.zeros(shape, bool), np.zeros(shape, bool), np.ones(len(rows))
    for i, row in enumerate(rows):
        for key, value in row["signs"].items():
            if key in place:
                signs[i, place[key]] = value
        for cause, value in row["hand"].items():
            hand[i, column[cause]] = value
        other = set(row.get("second") or ())
        for cause in row["causes"]:
            right[i, column[cause]] = cause not in other
            second[i, column[cause]] = cause in other
        weight[i] = LEVEL_WEIGHT.get(row["level"], 1.0) * (HARMLESS if row["verdict"] == "harmless" else 1.0)
    return Table(rows, tuple(keys), tuple(causes), signs, hand, right, second, weight)


@dataclass(frozen=True)
class Model:
    """`scale` of the hand-set log-odds, `base[c]` and `weights[k, c]` that are added."""

    keys: tuple[str, ...]
    causes: tuple[str, ...]
    scale: float
    base: Floats
    weights: Floats

    def scores(self, t: Table) -> Floats:
        return np.asarray(self.scale * t.hand + self.base + t.signs @ self.weights)

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


def fit(t: Table, ridge: float = RIDGE, clear: float = RIDGE_CLEAR, steps: int = 150) -> Model:
    """The model that explains the table best under the ridge."""
    from scipy.optimize import minimize

    n_keys, n_causes = len(t.keys), len(t.causes)
    cost = np.array([clear if k.startswith("!") else ridge for k in t.keys])[:, None] / 10

    def unpack(x: Floats) -> tuple[float, Floats, Floats]:
        return x[0], x[1 : 1 + n_causes], x[1 + n_causes :].reshape(n_keys, n_causes)

    def objective(x: Floats) -> tuple[float, Floats]:
        scale, base, weights = unpack(x)
        total, slope = loss_of(scale * t.hand + base + t.signs @ weights, t)
        total += 0.5 * float((cost * weights**2).sum()) + 0.5 * RIDGE_BASE / 10 * float((base**2).sum())
        gradient = [[float((slope * t.hand).sum())], slope.sum(0) + RIDGE_BASE / 10 * base]
        gradient.append((t.signs.T @ slope + cost * weights).ravel())
        return total, np.concatenate(gradient)

    start = np.zeros(1 + n_causes + n_keys * n_causes)
    start[0] = 0.6
    bounds = [(0.05, 2.0)] + [(None, None)] * (len(start) - 1)
    found = minimize(objective, start, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": steps})
    return Model(t.keys, t.causes, *unpack(found.x))
