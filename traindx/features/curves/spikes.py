"""Spikes: brief rises far out of a signal's own noise, judged against its own tail."""

import msgspec
import numpy as np

from traindx.features.statistics import difference_noise, median, quantile
from traindx.vocabulary import Floats

RETURN = 0.15  # of a spike's height: back at the level before, as one would see it
AGAIN = 3.0  # sigma, the noise of the level it returns to


class Spike(msgspec.Struct, frozen=True):
    """Points `first..last` (inclusive), highest at `peak`, `height` above the level before; `recovered` when
    the level after it is back at it, within 15 % of the height or three sigma; `settle` is how many points
    that took."""

    first: int
    last: int
    peak: int
    height: float
    before: float
    recovered: bool
    settle: int


def tail_threshold(values: Floats, *, multiple: float, margin: float) -> float:
    """How far a point of `values[n]` must rise to be no ordinary noise: `multiple` sigmas of the
    point-to-point noise, or `margin` times the largest rise that the signal's own tail leads one to expect
    (a power tail fitted between the 80th and 95th percentile of the rises), whichever is more. Heavy-tailed
    batch losses thus raise their own bar; spikes that recur do not (see `without_events`). Only rises count:
    a steep descent is no noise.
    """
    rises = np.diff(values)
    sigma = difference_noise(values)
    rises = without_events(rises[rises > 0], multiple * sigma, of=len(values))
    if len(rises) < 8:
        return multiple * sigma
    q80, q95 = quantile(rises, (0.80, 0.95))
    if q80 <= 0:
        return max(multiple * sigma, margin * float(q95))
    exponent = min(np.log(q95 / q80) / np.log(4.0), 0.6)
    # Beyond 2000 points the extrapolation would hide real spikes rather than explain noise.
    expected = q95 * max(0.05 * min(len(rises), 2000), 1.0) ** exponent
    return float(max(multiple * sigma, margin * expected))


def without_events(
    rises: Floats, bar: float, *, of: int | None = None, most: float = 0.2, gap: float = 2.0, least: int = 3
) -> Floats:
    """`rises[n]` without those that are events of their own: at most a fifth of the `of` points and half of
    the rises (a curve that falls has few), three or more, above `bar`, and set off from all others by a gap
    of a factor of two. A tail, however heavy, has no such gap: of a power tail with exponent 3 three values
    are beyond one in 1 of 500 cases."""
    ordered = np.sort(rises)
    count = len(ordered)
    first = count - int(min(most * (of or count), count / 2))
    if len(ordered) < 4 * least or bar <= 0:
        return rises
    below, above = ordered[first:-least], ordered[first + 1 : len(ordered) - least + 1]
    cut = np.flatnonzero((above > bar) & (above >= gap * below))
    return rises[rises < above[cut[0]]] if len(cut) else rises


def spikes(
    values: Floats,
    *,
    multiple: float = 8.0,
    margin: float = 1.0,
    least: float = 0.0,
    patience: int | None = None,
    usual: float | None = None,
) -> list[Spike]:
    """All upward spikes of `values[n]` (lower is better), in order.

    `usual` is the tail threshold, where it is known already. `least` is a floor for the height (units of the
    signal). A spike ends when the signal is back at the level before it; one that is not within `patience`
    points (default: the larger of 12 and 5 % of the run) has not recovered.
    """
    n = len(values)
    if n < 6:
        return []
    patience = max(12, n // 20) if patience is None else patience
    usual = tail_threshold(values, multiple=multiple, margin=margin) if usual is None else usual
    bar = max(usual, least)
    if bar <= 0:
        return []
    noise = difference_noise(values)
    # A cheap necessary condition first; the exact one is checked point by point.
    candidates = np.flatnonzero(np.diff(values, prepend=values[0]) > 0.4 * bar)
    found: list[Spike] = []
    after = 1
    for i in candidates:
        if i < after:
            continue
        spike = measure_spike(values, int(i), float(median(values[max(0, i - 5) : i])), bar, patience, noise)
        if spike is not None:
            found.append(spike)
            after = spike.last + 1
    return found


def measure_spike(
    values: Floats, first: int, before: float, bar: float, patience: int, noise: float
) -> Spike | None:
    """The spike that begins at `first`, or None when the rise is too small."""
    window = values[first : first + patience + 1]
    peak = int(np.argmax(window[: max(1, min(len(window), patience // 2 + 1))]))
    height = float(window[peak] - before)
    if height <= bar:
        return None
    back = first_return(window[peak:], before, max(RETURN * height, AGAIN * noise))
    if back is not None:
        last = first + peak + back - 1
        return Spike(first, last, first + peak, height, before, True, last - first + 1)
    return Spike(first, first + len(window) - 1, first + peak, height, before, False, len(window))


def first_return(values: Floats, before: float, near: float, *, least: int = 64) -> int | None:
    """The first of `values[n]` less than `near` above `before`. Most spikes are short, so few points are looked
    at first (`least`), and twice as many each time."""
    at, size = 0, least
    while at < len(values):
        back = np.flatnonzero(values[at : at + size] - before < near)
        if len(back):
            return at + int(back[0])
        at, size = at + size, 2 * size
    return None
