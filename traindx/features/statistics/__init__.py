"""Statistics of values in their order: levels, noise, smoothing and trends."""

from traindx.features.statistics.medians import distinct, median, quantile
from traindx.features.statistics.noise import (
    autocorrelation,
    difference_noise,
    median_error,
    residual_noise,
    robust_sigma,
)
from traindx.features.statistics.smoothing import (
    TREND_PARTS,
    block_edges,
    block_medians,
    running_median,
    trend,
)
from traindx.features.statistics.trends import Slope, fit_polynomial, legendre, rank_correlation, slope

__all__ = [
    "TREND_PARTS",
    "Slope",
    "autocorrelation",
    "block_edges",
    "block_medians",
    "difference_noise",
    "distinct",
    "fit_polynomial",
    "legendre",
    "median",
    "median_error",
    "quantile",
    "rank_correlation",
    "residual_noise",
    "robust_sigma",
    "running_median",
    "slope",
    "trend",
]
