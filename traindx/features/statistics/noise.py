"""How noisy a signal is, estimated so that trends, spikes and heavy tails do not inflate it."""

import numpy as np

from traindx.features.statistics.medians import median
from traindx.vocabulary import Floats

SAMPLE = 30_000  # points from which the scale of a longer signal is estimated
MAD_TO_SIGMA = 1.4826  # makes the median absolute deviation equal sigma for a normal distribution


def robust_sigma(values: Floats) -> float:
    """Scale of `values` around their median: 1.4826 x MAD, or the mean absolute deviation when more
    than half the values are equal (coarse number formats)."""
    if len(values) == 0:
        return 0.0
    values = values[:: sample_stride(len(values))]
    centred = np.abs(values - median(values))
    mad = float(median(centred))
    return MAD_TO_SIGMA * mad if mad > 0 else 1.2533 * float(np.mean(centred))


def sample_stride(n: int) -> int:
    """The distance between the points of an even sample of `n`, which gives a scale to one percent."""
    return n // SAMPLE if n > 2 * SAMPLE else 1


def median_error(sigma: float, points: float) -> float:
    """Standard error of the median of `points` values with normal noise `sigma`: sqrt(pi/2) times
    that of the mean."""
    return 1.2533 * sigma / float(np.sqrt(max(points, 1.0)))


def difference_noise(values: Floats) -> float:
    """Sigma of the point-to-point noise of `values[n]`, blind to any smooth trend: the scale of the
    second differences over sqrt(6), which is what white noise of sigma 1 would give. Needs n >= 4,
    else 0."""
    if len(values) < 4:
        return 0.0
    step = sample_stride(len(values) - 2)  # of the differences only those are computed that are used
    second = values[2::step] - 2.0 * values[1:-1:step] + values[:-2:step]
    return robust_sigma(second) / float(np.sqrt(6.0))


def residual_noise(values: Floats, smooth: Floats) -> float:
    """Sigma of what is left when the trend `smooth[n]` is taken from `values[n]`."""
    return robust_sigma(values - smooth)


def autocorrelation(values: Floats, lag: int) -> float:
    """Correlation of `values` with themselves `lag` points later; 0 when there is no variance."""
    if lag <= 0 or len(values) <= lag + 2:
        return 0.0
    centred = values - values.mean()
    power = float(np.dot(centred, centred))
    return float(np.dot(centred[lag:], centred[:-lag])) / power if power > 0 else 0.0
