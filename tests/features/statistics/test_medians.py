from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from traindx.features.statistics.medians import median, quantile
from traindx.features.statistics.trends import fit_polynomial, legendre

VALUES = st.lists(st.floats(allow_nan=True, allow_infinity=True, width=32), min_size=1, max_size=30)


@given(VALUES)
def test_the_median_is_numpys(values: list[float]) -> None:
    with np.errstate(invalid="ignore"):
        assert np.array_equal(median(values), np.median(np.array(values)), equal_nan=True)


@pytest.mark.parametrize("shape", [(7,), (1, 4), (6, 3), (5, 2, 3)])
def test_the_median_along_an_axis_is_numpys(shape: tuple[int, ...]) -> None:
    values = np.random.default_rng(0).normal(size=shape)
    values.ravel()[1] = np.nan
    for axis in range(-1, len(shape)):
        assert np.array_equal(median(values, axis=axis), np.median(values, axis=axis), equal_nan=True)
    assert np.isnan(median([]))
    assert median([1, 2]) == 1.5


@given(
    st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=30),
    st.lists(st.floats(0, 1), min_size=1, max_size=4),
)
def test_quantiles_are_numpys(values: list[float], shares: list[float]) -> None:
    assert np.allclose(quantile(values, tuple(shares)), np.quantile(values, shares), rtol=1e-12, atol=1e-9)
    assert np.isclose(quantile(values, shares[0]), np.quantile(values, shares[0]), rtol=1e-12, atol=1e-9)


@pytest.mark.parametrize("degree", [0, 1, 2, 5])
def test_polynomials_are_numpys(degree: int) -> None:
    x = np.linspace(-1, 1, 30)
    assert np.allclose(legendre(x, degree), np.polynomial.legendre.legvander(x, degree))
    rng = np.random.default_rng(1)
    at, y = np.sort(rng.uniform(0, 1e4, 30)), rng.normal(size=30)
    wanted = np.polynomial.polynomial.polyval(x * 5e3 + 5e3, np.polynomial.polynomial.polyfit(at, y, degree))
    assert np.allclose(fit_polynomial(at, y, x * 5e3 + 5e3, degree), wanted, rtol=1e-6, atol=1e-9)
