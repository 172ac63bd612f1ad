"""Whether the training and the validation loss of a short run turn and rise together."""

import numpy as np

from traindx.features.curve import Curve
from traindx.vocabulary import threshold


def rises_together(
    train: Curve,
    val: Curve,
    *,
    points: float = threshold(3, "rises in a row, both", basis="theory", source="1 in 64 by chance"),
    visible: float = threshold(0.1, "of the lowest", basis="convention", source="clear of evaluation noise"),
    lost: float = threshold(0.2, "of the progress", basis="convention", source="more than a step back"),
    beyond: float = threshold(2.0, "x the usual change before", basis="theory", source="no scatter"),
) -> int:
    """From which index on both losses rise at every point to the end; -1 if they do not, or by little."""
    if len(train.steps) != len(val.steps) or not np.array_equal(train.steps, val.steps):
        return -1
    starts = [turn_of(c.as_loss) for c in (train, val)]
    low = max(starts)
    if train.n - 1 - low < points or low < 1:
        return -1
    for y in (train.as_loss, val.as_loss):
        risen, gained = float(y[-1] - y[low]), float(y[0] - y[low])
        usual = float(np.median(np.abs(np.diff(y[1 : low + 1])))) if low > 1 else 0.0
        if y[low] <= 0 or risen < max(visible * y[low], lost * gained, beyond * usual):
            return -1
    return low


def turn_of(y: np.ndarray[tuple[int], np.dtype[np.float64]]) -> int:
    """The index after which no value falls."""
    falls = np.flatnonzero(np.diff(y) <= 0)
    return int(falls[-1]) + 1 if len(falls) else 0
