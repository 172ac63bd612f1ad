"""Least-squares polynomials in Legendre's basis, which stays well conditioned (numpy's own are slow to
import)."""

from __future__ import annotations

import numpy as np

from traindx.vocabulary.run import Floats


def legendre(x: Floats, degree: int) -> Floats:
    """`P_0 .. P_degree` at `x[n]` in -1..1 , as `design[n, degree + 1]` by Bonnet's recurrence."""
    design = np.ones((len(x), degree + 1))
    if degree > 0:
        design[:, 1] = x
    for k in range(1, degree):
        design[:, k + 1] = ((2 * k + 1) * x * design[:, k] - k * design[:, k - 1]) / (k + 1)
    return design


def fitted(x: Floats, y: Floats, at: Floats, degree: int) -> Floats:
    """Values at `at[m]` of the least-squares polynomial through `x[n]`, `y[n]`."""
    low, high = float(x.min()), float(x.max())
    middle, half = (low + high) / 2, (high - low) / 2 or 1.0
    coefficients, *_ = np.linalg.lstsq(legendre((x - middle) / half, degree), y, rcond=None)
    return np.asarray(legendre((at - middle) / half, degree) @ coefficients, dtype=np.float64)
