"""The median, without what numpy's costs beside the work: checks for masked arrays, and the import of those."""

from __future__ import annotations

from typing import Any

import numpy as np


def median(values: Any, axis: int | None = None) -> Any:
    """The median of `values`, of all of them or along `axis`: NaN where one is NaN, or where there are none."""
    array = np.asarray(values)
    if axis is None:
        parted = array.flatten()
    else:  # the last place is where the numbers of one median lie together
        parted = (array if axis == array.ndim - 1 else np.moveaxis(array, axis, -1)).copy()
    n = parted.shape[-1]
    if n == 0:
        return np.full(parted.shape[:-1], np.nan)[()]
    half = n // 2
    parted.partition((max(half - 1, 0), half, n - 1))  # what is NaN comes last
    middle = parted[..., half] / 1.0 if n % 2 else (parted[..., half - 1] + parted[..., half]) / 2
    last = parted[..., -1]
    if parted.ndim == 1:
        return middle if last == last else last
    return np.where(last == last, middle, last)


def quantile(values: Any, shares: float | tuple[float, ...]) -> Any:
    """The quantiles of `values[n]` at `shares` in 0..1, interpolated between neighbours as numpy does by default."""
    array = np.asarray(values, dtype=np.float64).ravel()
    at = np.asarray(shares, dtype=np.float64) * (len(array) - 1)
    below = np.floor(at).astype(np.int64)
    above = np.minimum(below + 1, len(array) - 1)
    parted = np.partition(
        array, [*np.atleast_1d(below).tolist(), *np.atleast_1d(above).tolist(), len(array) - 1]
    )
    if parted[-1] != parted[-1]:
        return np.full(at.shape, np.nan)[()]
    low, high = parted[below], parted[above]
    return np.where(low == high, low, low + (high - low) * (at - below))[()]
