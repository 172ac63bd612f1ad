"""Slopes with their uncertainty, and least-squares polynomials in Legendre's basis, which stays well
conditioned (numpy's own are slow to import)."""

import msgspec
import numpy as np

from traindx.features.statistics.noise import autocorrelation
from traindx.features.statistics.smoothing import block_medians
from traindx.vocabulary import Floats


class Slope(msgspec.Struct, frozen=True):
    """Change over the whole stretch (units of the signal), its standard error, and their ratio."""

    change: float
    error: float

    @property
    def z(self) -> float:
        return (
            self.change / self.error
            if self.error > 0
            else (0.0 if self.change == 0 else np.sign(self.change) * 1e9)
        )


def slope(values: Floats, *, blocks: int = 24) -> Slope:
    """Straight line through block medians of `values[n]`: the change from the first to the last
    point, and its standard error from the residuals, widened for autocorrelated ones. Outliers
    count little. n < 4 gives an infinite error."""
    n = len(values)
    if n < 4:
        return Slope(float(values[-1] - values[0]) if n > 1 else 0.0, float("inf"))
    y = block_medians(values, min(blocks, max(4, n // 2)))
    x = np.linspace(-0.5, 0.5, len(y))
    sxx = float(np.dot(x, x))
    beta = float(np.dot(x, y - y.mean())) / sxx
    residual = y - y.mean() - beta * x
    with np.errstate(over="ignore"):  # values near the largest number there is
        sigma = float(np.sqrt(np.dot(residual, residual) / max(len(y) - 2, 1)))
    rho = min(max(autocorrelation(residual, 1), 0.0), 0.9)
    error = sigma / np.sqrt(sxx) * np.sqrt((1 + rho) / (1 - rho))
    floor = 1e-12 * float(np.max(np.abs(y)))  # rounding of the arithmetic itself
    return Slope(beta, max(error, floor))


def rank_correlation(x: Floats, y: Floats) -> float:
    """Spearman's rank correlation of two arrays of equal length (ties in order of appearance)."""
    if len(x) < 3:
        return 0.0
    rx = np.argsort(np.argsort(x, kind="stable")).astype(np.float64)
    ry = np.argsort(np.argsort(y, kind="stable")).astype(np.float64)
    return 0.0 if np.ptp(x) == 0 or np.ptp(y) == 0 else float(np.corrcoef(rx, ry)[0, 1])


def legendre(x: Floats, degree: int) -> Floats:
    """`P_0 .. P_degree` at `x[n]` in -1..1 , as `design[n, degree + 1]` by Bonnet's recurrence."""
    design = np.ones((len(x), degree + 1))
    if degree > 0:
        design[:, 1] = x
    for k in range(1, degree):
        design[:, k + 1] = ((2 * k + 1) * x * design[:, k] - k * design[:, k - 1]) / (k + 1)
    return design


def fit_polynomial(x: Floats, y: Floats, at: Floats, degree: int) -> Floats:
    """Values at `at[m]` of the least-squares polynomial through `x[n]`, `y[n]`."""
    low, high = float(x.min()), float(x.max())
    middle, half = (low + high) / 2, (high - low) / 2 or 1.0
    coefficients, *_ = np.linalg.lstsq(legendre((x - middle) / half, degree), y, rcond=None)
    return np.asarray(legendre((at - middle) / half, degree) @ coefficients, dtype=np.float64)
