"""What distance from the fitted runs does to certainty: fitted on programs that the weights had not seen."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from benchmarks.gym.fitting.fit import Floats
from traindx.causes.ranking.distance import Homes, Temper, distances, held_keys

EVERY = 2  # homes of the gym: so many runs of a cause in a setting
MOST_DOUBT = -3.5  # log-odds of the share that goes to the usual causes at a middling distance: 3 %
TINY = 1e-9


def packed_homes(rows: Iterable[Iterable[str]], keys: tuple[str, ...]) -> Homes:
    """The runs that have these signs, as they are kept."""
    place = {key: i for i, key in enumerate(keys)}
    bits = [[place[key] for key in row if key in place] for row in rows]
    made = np.zeros((len(bits), len(keys)), np.uint8)
    for i, which in enumerate(bits):
        made[i, which] = 1
    return Homes(keys, tuple(bytes(row).hex() for row in np.packbits(made, axis=1)))


def homes_of(rows: Sequence[Mapping[str, Any]], keys: tuple[str, ...]) -> Homes:
    """The homes among fitted rows: all programs, and of the gym some recordings of each cause in each setting."""
    kept: list[Mapping[str, Any]] = []
    counts: dict[tuple[str, str], int] = {}
    for row in rows:
        place = (row["setting"], row["cause"] if row["verdict"] == "hurts" else "healthy")
        counts[place] = counts.get(place, 0) + 1
        if row["level"] == "program" or (row["level"] == "capture" and counts[place] <= EVERY):
            kept.append(row)
    return packed_homes((held_keys(row["signs"]) for row in kept), keys)


def apart(rows: Sequence[Mapping[str, Any]], homes: Homes) -> Floats:
    """Distance of each row from home."""
    return distances(
        packed_homes((held_keys(row["signs"]) for row in rows), homes.keys).bits(), homes.bits()
    )


def tempered(p: Floats, distance: Floats, temper: Temper, causes: Sequence[str]) -> Floats:
    """Probabilities[n, c] at `distance[n]` as the ranking gives them."""
    scores = np.log(np.maximum(p, 1e-300)) / temper.heat(distance)[:, None]
    cooled = np.exp(scores - scores.max(1, keepdims=True))
    cooled /= cooled.sum(1, keepdims=True)
    share = temper.share(distance)[:, None]
    return np.asarray((1 - share) * cooled + share * np.array([temper.usual.get(c, 0.0) for c in causes]))


def fit_temper(p: Floats, right: np.ndarray, distance: Floats, causes: Sequence[str]) -> Temper:
    """The temper under which probabilities[n, c] of unseen programs, whose right causes are `right[n, c]`, are most
    likely; it may only flatten more where a run is further from home."""
    from scipy.optimize import minimize

    usual = (right / right.sum(1, keepdims=True)).mean(0) + 1 / len(causes) / len(p)
    told = dict(zip(causes, (usual / usual.sum()).round(5).tolist(), strict=True))

    def made(x: Floats) -> Temper:
        flat, flatter, doubt, more = (round(float(v), 3) for v in x)
        return Temper(flat, flatter, doubt, more, told)

    def loss(x: Floats) -> float:
        flat, flatter, doubt, more = x
        q = tempered(p, distance, Temper(flat, flatter, doubt, more, told), causes)
        calm = 0.005 * (flat**2 + 0.1 * flatter**2 + 0.05 * (doubt + 3.5) ** 2 + 0.05 * more**2)
        return float(-np.log(np.maximum((q * right).sum(1), TINY)).mean() + calm)

    bounds = [(-0.5, 1.5), (0.0, 6.0), (-6.0, MOST_DOUBT), (0.0, 10.0)]
    found = minimize(loss, np.array([0.1, 0.5, -3.5, 1.0]), method="L-BFGS-B", bounds=bounds)
    return made(found.x)
