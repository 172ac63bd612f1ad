"""The level at which a signal ends, and how well that is known when its noise lasts over many points."""

from typing import NamedTuple

import numpy as np

from traindx.features.statistics.noise import autocorrelation, robust_sigma
from traindx.features.statistics.smoothing import block_edges, block_medians
from traindx.features.statistics.trends import fit_polynomial
from traindx.vocabulary import Floats

TAIL = 0.15  # share of a signal that counts as its end
TAIL_LEAST = 24  # points that count as the end of a shorter signal, at most a third of it
HISTORY_LEAST = 20  # points from which the noise is estimated, if there are as many
LEAST = 6  # points: from fewer, noise cannot be separated from trend
BLOCKS = 10

# 97.5 % quantiles of Student's t for 1 to 30 degrees of freedom (any table of the distribution).
T975 = (
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
    2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
)  # fmt: skip


class EndLevel(NamedTuple):
    """Mean over the end, its standard error, and the half width of its 95 % interval (NaN: unknown)."""

    mean: float
    error: float
    half: float


def tail_length(n: int) -> int:
    """Points of a signal of length `n` that count as its end: 15 %, of a short one 24 or a third."""
    return max(round(n * TAIL), min(TAIL_LEAST, n // 3), 1)


def end_level(values: Floats, *, degree: int) -> EndLevel:
    """Mean of the end of finite `values[n]` with its uncertainty.

    Outliers are drawn in first. The noise is what a polynomial of `degree` leaves of the last half. Its
    correlation from point to point is taken as a first-order autoregression, corrected for the
    bias of short samples (Kendall 1954), which gives the variance of a mean (as many independent
    points as `m (1 - rho) / (1 + rho)`). Batch means over the end give a second estimate that
    makes no such assumption (Conway 1963); the wider one is reported. Fewer than 6 points give the
    mean alone.
    """
    n = len(values)
    tail = tail_length(n)
    history = values[-max(n // 2, min(n, HISTORY_LEAST)) :]
    if n < LEAST:
        return EndLevel(float(np.mean(values[-tail:])), float("nan"), float("nan"))
    x = np.linspace(-1.0, 1.0, len(history))
    edges = block_edges(len(history), BLOCKS)
    centres = (x[edges[:-1]] + x[edges[1:] - 1]) / 2
    history = pull_in_outliers(history, fit_polynomial(centres, block_medians(history, BLOCKS), x, degree))
    residual = history - fit_polynomial(x, history, x, degree)
    error, freedom = autoregressive_error(residual, tail, degree)
    wide = t975(freedom) * error
    if tail >= 2 * BLOCKS:
        batch = batch_error(residual[-tail:])
        wide, error = max(wide, t975(BLOCKS - 1) * batch), max(error, batch)
    return EndLevel(float(history[-tail:].mean()), error, wide)


def pull_in_outliers(values: Floats, rough: Floats) -> Floats:
    """`values[n]` with those that are more than 4 robust sigma from `rough[n]` moved to that distance."""
    residual = values - rough
    bound = 4.0 * robust_sigma(residual)
    return rough + np.clip(residual, -bound, bound)


def autoregressive_error(residual: Floats, m: int, degree: int) -> tuple[float, float]:
    """(standard error of a mean over `m` points, degrees of freedom) from `residual[n]`, taken as a
    first-order autoregression around a fitted polynomial of `degree`."""
    n = len(residual)
    parameters = degree + 1
    rho = autocorrelation(residual, 1)
    rho = min(max(rho + (parameters + (parameters + 2) * rho) / n, 0.0), 0.98)
    effective = n * (1 - rho) / (1 + rho)
    spread = float(np.dot(residual, residual)) / n
    # Fitting takes its share of the variance, more of it the fewer independent points there are.
    spread *= effective / max(effective - parameters, effective / 4)
    lags = np.arange(1, m)
    inflation = 1 + 2 * float(np.sum((1 - lags / m) * rho**lags))
    return float(np.sqrt(spread * inflation / m)), max(effective - parameters, 1.0)


def batch_error(residual: Floats) -> float:
    """Standard error of the mean of `residual[m]` from the means of ten consecutive batches."""
    edges = block_edges(len(residual), BLOCKS)
    means = np.add.reduceat(residual, edges[:-1]) / np.diff(edges)
    return float(means.std(ddof=1) / np.sqrt(len(means)))


def welch(a: Floats, b: Floats) -> tuple[float, float]:
    """(mean of `b` minus mean of `a`, half width of its 95 % interval) by Welch's test; NaN in either
    makes both NaN."""
    va, vb = a.var(ddof=1) / len(a), b.var(ddof=1) / len(b)
    spread = float(va + vb)
    delta = float(b.mean() - a.mean())
    if spread <= 0 or not np.isfinite(spread):
        return delta, 0.0 if spread == 0 else float("nan")
    freedom = spread**2 / (va**2 / (len(a) - 1) + vb**2 / (len(b) - 1))
    return delta, t975(float(freedom)) * float(np.sqrt(spread))


def t975(freedom: float) -> float:
    """97.5 % quantile of Student's t; between whole degrees of freedom the larger one is taken, above 30
    the first order of the expansion of Cornish and Fisher."""
    if freedom < len(T975) + 1:
        return T975[max(int(freedom), 1) - 1]
    return 1.959964 + (1.959964**3 + 1.959964) / (4 * freedom)
