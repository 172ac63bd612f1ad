"""Smoothing and block statistics in O(n) or O(n log w). Arrays in, arrays out."""

import numpy as np

from traindx.features.statistics.medians import median
from traindx.vocabulary import Floats

ENOUGH = 512  # points of a block
TREND_PARTS = 40  # a trend resolves about this many parts of a run


def block_edges(n: int, blocks: int) -> np.ndarray:
    """`min(blocks, n) + 1` indices that cut `n` points into blocks whose sizes differ by one."""
    return np.linspace(0, n, min(blocks, n) + 1).round().astype(np.int64)


def block_medians(values: Floats, blocks: int) -> Floats:
    """Median of each of `blocks` consecutive blocks of `values[n]`; shape `[min(blocks, n)]`. Of blocks of
    more than a thousand points an even sample is taken, which gives the median to a twentieth of the
    scatter."""
    n = len(values)
    if n == 0:
        return np.empty(0)
    if n > 2 * ENOUGH * blocks:
        return block_medians(values[:: n // (ENOUGH * blocks)], blocks)
    edges = block_edges(n, blocks)
    size = n // (len(edges) - 1)
    if size * (len(edges) - 1) == n:
        return np.asarray(median(values.reshape(-1, size), axis=1))
    sizes = np.diff(edges)
    medians = np.empty(len(sizes))
    for size in {int(sizes.min()), int(sizes.max())}:  # two of them, one apart
        which = np.flatnonzero(sizes == size)
        medians[which] = median(values[edges[which][:, None] + np.arange(size)], axis=1)
    return medians


CHUNK = 1_000_000  # numbers that are sorted at a time


def running_median(values: Floats, window: int) -> Floats:
    """Centred running median of `values[n]` over an odd `window`; the ends use mirrored values.

    Long inputs are done in chunks of `CHUNK` numbers, whatever the window.
    """
    n = len(values)
    window = min(window | 1, (2 * n - 1) | 1)
    if window <= 1 or n < 3:
        return values.astype(np.float64)
    half = min(window // 2, n - 1)
    padded = np.pad(values, half, mode="reflect")
    if half == 1:  # the middle one of three, without a sort of each
        a, b, c = padded[:-2], padded[1:-1], padded[2:]
        return np.asarray(np.maximum(np.minimum(a, b), np.minimum(np.maximum(a, b), c)))
    view = np.lib.stride_tricks.sliding_window_view(padded, 2 * half + 1)
    rows = max(1, CHUNK // view.shape[1])
    return np.concatenate([median(view[i : i + rows], axis=1) for i in range(0, n, rows)])


def running_mean(values: Floats, window: int) -> Floats:
    """Centred running mean of `values[n]` over an odd `window`; the ends use mirrored values."""
    half = min(max(window, 1) // 2, len(values) - 1)
    if half <= 0:
        return values.astype(np.float64)
    sums = np.cumsum(np.concatenate([[0.0], np.pad(values, half, mode="reflect")]))
    means: Floats = (sums[2 * half + 1 :] - sums[: -2 * half - 1]) / (2 * half + 1)
    return means


def trend(values: Floats, *, parts: int = TREND_PARTS) -> Floats:
    """The curve without its noise, shape `[n]`: a running median over about `n / parts` points, then
    a short running mean. Robust to isolated spikes and to heavy tails; short inputs (under 12
    points) are returned almost as they are. Inputs over 4 k points are reduced to block medians
    first and interpolated back."""
    n = len(values)
    if n < 5:
        return values.astype(np.float64)
    if n > 4_000:
        coarse = trend(block_medians(values, 2000), parts=parts)
        edges = block_edges(n, 2000)
        return np.interp(np.arange(n), (edges[:-1] + edges[1:] - 1) / 2, coarse)
    window = max(3, n // parts) | 1
    return running_mean(running_median(values, window), max(1, window // 2) | 1)
