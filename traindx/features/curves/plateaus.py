"""Flat stretches, late drops and how much of a curve's progress is where."""

from functools import partial

import msgspec
import numpy as np

from traindx.features.curve import Curve
from traindx.features.statistics import Slope, block_edges, block_medians, difference_noise, median, slope
from traindx.vocabulary import Floats


class Flat(msgspec.Struct, frozen=True):
    """A stretch from index `first` to the end: its `change` over the stretch (negative = still
    improving), the standard `error` of that, and its share of the run's points."""

    first: int
    change: float
    error: float
    share: float


def flat_tail(
    curve: Curve,
    *,
    still: float,
    most: float,
    nothing: float = 0.01,
    shares: tuple[float, ...] = (0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3),
) -> Flat | None:
    """The longest final stretch in which the curve has stopped improving; None when even the
    shortest of `shares` has not.

    Speed is counted per unit of the logarithm of the position, in which an ordinary power law slows
    down little: a stretch is flat when what it may have gained (its change plus two standard errors) is
    less than `still` times as fast as the curve gained over the doubling right before it, and less
    than `most` of all that was gained before; or less than `nothing` of that, however little moved before.
    """
    n = curve.n
    for share in shares:
        first = int(n * (1 - share))
        if n - first < 6 or first < 4:
            continue
        tail = curve.derived(("tail from", first), partial(tail_from, curve.as_loss, first))
        gained = curve.start - tail.level
        allowed = max(min(still * tail.speed * np.log(1.0 / (1.0 - share)), most * gained), nothing * gained)
        fit = tail.fit
        if allowed > 0 and abs(fit.change) + 2 * fit.error < allowed and tail.wiggle < 2 * allowed:
            return Flat(first, fit.change, fit.error, (n - first) / n)
    return None


class Tail(msgspec.Struct, frozen=True):
    """The points from one on: its `level`, a line through them, how much their levels `wiggle`, and the
    `speed` with which the curve came to it, in units of the signal for each unit of the logarithm of the
    position."""

    level: float
    fit: Slope
    wiggle: float
    speed: float


def tail_from(y: Floats, first: int) -> Tail:
    """What is to be known of `y[first:]`."""
    level = level_at(y, first)
    wiggle = float(np.ptp(block_medians(y[first:], 6)))
    return Tail(level, slope(y[first:]), wiggle, (level_at(y, first // 2) - level) / np.log(2.0))


def level_at(y: Floats, index: int) -> float:
    """Median of the points around an index: a fortieth of the run, three at least."""
    half = max(1, len(y) // 80)
    return float(median(y[max(0, index - half) : index + half + 1]))


class Drop(msgspec.Struct, frozen=True):
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
    y = curve.as_loss
    k = max(1, len(y) // 10)
    first, last = y[:k], y[-k:]
    noise = max(difference_noise(y), curve.noise)
    return float(median(first) - median(last)), float(1.2533 * noise * np.sqrt(2.0 / k))
