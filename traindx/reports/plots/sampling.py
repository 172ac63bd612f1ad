"""Fewer points for drawing, with every extreme kept."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from traindx.vocabulary.run import Floats


class Sampled(NamedTuple):
    """`x[k]`, `y[k]` in ascending x; y is NaN where a gap is to be shown. `nonfinite[j]`: places
    of NaN or infinite values, one for each bucket that has any."""

    x: Floats
    y: Floats
    nonfinite: Floats


def sample(x: Floats, y: Floats, limit: int = 2000) -> Sampled:
    """At most `limit` points of `y[n]` over ascending `x[n]`: the smallest and largest value of each
    of equally wide buckets of x (one bucket is about one pixel), and one NaN for each bucket that
    holds values that are not finite. Shorter inputs are returned whole (infinities as NaN)."""
    finite = np.isfinite(y)
    if len(y) <= limit:
        return Sampled(x, np.where(finite, y, np.nan), x[~finite])
    bad = not finite.all()
    starts = bucket_starts(x, limit // 3 if bad else limit // 2)
    chosen = [extreme_indices(np.where(finite, y, np.inf), starts, np.minimum)]
    chosen.append(extreme_indices(np.where(finite, y, -np.inf), starts, np.maximum))
    if bad:
        gaps = np.flatnonzero(~finite)
        bucket = np.searchsorted(starts, gaps, side="right")
        chosen.append(gaps[np.concatenate([[True], np.diff(bucket) > 0])])
    index = np.unique(np.concatenate(chosen))
    y = np.where(finite[index], y[index], np.nan)
    return Sampled(x[index], y, x[index[np.isnan(y)]])


def bucket_starts(x: Floats, buckets: int) -> np.ndarray:
    """First index of each non-empty one of `buckets` equally wide buckets over ascending `x[n]`."""
    low, high = float(x[0]), float(x[-1])
    if not high > low:
        return np.unique(np.linspace(0, len(x), buckets, endpoint=False).astype(np.int64))
    place = np.minimum(((x - low) * (buckets / (high - low))).astype(np.int64), buckets - 1)
    return np.concatenate([[0], np.flatnonzero(np.diff(place)) + 1])


def extreme_indices(y: Floats, starts: np.ndarray, extreme: np.ufunc) -> np.ndarray:
    """Index of the first extreme value (`np.minimum` or `np.maximum`) of each bucket of `y[n]`."""
    best = extreme.reduceat(y, starts)
    counts = np.diff(np.append(starts, len(y)))
    hits = np.flatnonzero(y == np.repeat(best, counts))
    bucket = np.searchsorted(starts, hits, side="right")
    return hits[np.concatenate([[True], np.diff(bucket) > 0])] if len(hits) else hits
