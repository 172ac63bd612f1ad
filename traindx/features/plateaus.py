"""Flat stretches, late drops and how much of a curve's progress is where."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from traindx.features.curve import Curve
from traindx.features.noise import difference_noise
from traindx.features.smoothing import block_edges, block_medians
from traindx.features.trends import slope
from traindx.vocabulary.run import Floats


class Flat(NamedTuple):
    """A stretch from index `first` to the end: its `change` over the stretch (negative = still
    improving), the standard `error` of that, and its share of the run's points."""

    first: int
    change: float
    error: float
    share: float


def flat_tail(
    curve: Curve, *, tolerance: float, shares: tuple[float, ...] = (0.9, 0.75, 0.6, 0.5, 0.4, 0.3)
) -> Flat | None:
    """The longest final stretch over which the trend improves by less than `tolerance` times the
    fall before it (or less than twice its standard error would show, if that error is itself small);
    None when even the shortest of `shares` is not flat."""
    y = curve.oriented
    n = len(y)
    for share in shares:
        first = int(n * (1 - share))
        if n - first < 6:
            continue
        fit = slope(y[first:])
        level = float(np.median(y[first : first + max(3, n // 40)]))
        fall = curve.start - level
        if fall <= 0:
            continue
        if abs(fit.change) <= tolerance * fall and fit.error <= tolerance * fall:
            return Flat(first, fit.change, fit.error, share)
    return None


class Drop(NamedTuple):
    """A steep fall after a flat stretch: points `first..last`, `size` (units of the signal), the
    `wait` (share of the run that was flat before it) and `early` (what had been gained before)."""

    first: int
    last: int
    size: float
    wait: float
    early: float


def late_drop(y: Floats, *, blocks: int = 60) -> Drop | None:
    """The steepest fall of `y[n]` (lower is better) over at most a tenth of the run, with what came
    before it; None for fewer than 12 points or no fall."""
    n = len(y)
    if n < 12:
        return None
    b = block_medians(y, blocks)
    m = len(b)
    width = max(1, m // 10)
    falls = b[:-width] - b[width:]
    # The first fall of any curve is steep: what matters is one that comes after a wait.
    k = int(np.argmax(falls[1:])) + 1 if len(falls) > 1 else 0
    if falls[k] <= 0:
        return None
    edges = block_edges(n, blocks)
    # The wait is the flat part right before: go back while the level stays within a fifth of the fall.
    level, first = b[k], k
    while first > 0 and abs(b[first - 1] - level) < 0.2 * falls[k]:
        first -= 1
    early = float(b[0] - level)
    return Drop(int(edges[k]), int(edges[min(k + width, m - 1)]), float(falls[k]), (k - first) / m, early)


def improvement(curve: Curve) -> tuple[float, float]:
    """Fall from the first tenth to the last tenth of the points (oriented: positive = better), and
    its standard error from the point-to-point noise."""
    y = curve.oriented
    k = max(1, len(y) // 10)
    first, last = y[:k], y[-k:]
    noise = max(difference_noise(y), curve.noise)
    return float(np.median(first) - np.median(last)), float(1.2533 * noise * np.sqrt(2.0 / k))
