"""End levels and their uncertainty, against theory and simulated nulls."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.make import rng
from traindx.features.statistics.end_levels import T975, end_level, t975, tail_length, welch


def noise(n: int, rho: float, draws: np.random.Generator) -> np.ndarray:
    """A first-order autoregression of variance 1 / (1 - rho^2), shape `[n]`."""
    shocks = draws.standard_normal(n)
    out = np.empty(n)
    out[0] = shocks[0] / math.sqrt(1 - rho * rho)
    for i in range(1, n):
        out[i] = rho * out[i - 1] + shocks[i]
    return out


def test_the_tail() -> None:
    assert [tail_length(n) for n in (1, 2, 9, 60, 100, 1000)] == [1, 1, 3, 20, 24, 150]


@pytest.mark.parametrize("rho", [0.0, 0.6, 0.9])
def test_the_error_is_the_spread_of_the_means(rho: float) -> None:
    draws = rng(1)
    found = [end_level(noise(2000, rho, draws), degree=1) for _ in range(150)]
    truth = float(np.std([level.mean for level in found]))
    assert float(np.mean([level.error for level in found])) == pytest.approx(truth, rel=0.3)


@pytest.mark.parametrize(("n", "rho"), [(60, 0.0), (60, 0.5), (200, 0.8), (2000, 0.9)])
def test_intervals_cover_the_truth(n: int, rho: float) -> None:
    draws = rng(2)
    missed = sum(
        abs(level.mean) > level.half
        for level in (end_level(noise(n, rho, draws), degree=1) for _ in range(400))
    )
    assert missed / 400 < 0.09  # 5 % asked for, 1.1 % standard error of this count


def test_a_trend_is_not_noise() -> None:
    draws = rng(3)
    steep = end_level(np.linspace(100, 0, 400) + 0.01 * draws.standard_normal(400), degree=2)
    assert steep.half < 0.02
    assert steep.mean == pytest.approx(100 * (1 - (400 - 30.5) / 399), abs=0.02)


def test_a_spike_moves_the_level_little() -> None:
    calm = 1 + 0.01 * rng(4).standard_normal(400)
    spiked = calm.copy()
    spiked[390] = 1e9
    assert end_level(spiked, degree=1).mean == pytest.approx(end_level(calm, degree=1).mean, abs=0.005)


def test_few_points_give_no_interval() -> None:
    level = end_level(np.array([3.0, 2.0, 1.0]), degree=2)
    assert level.mean == 1.0
    assert math.isnan(level.half)


def test_constants_are_certain() -> None:
    assert end_level(np.full(50, 2.0), degree=2)[1:] == pytest.approx((0.0, 0.0), abs=1e-12)


def test_quantiles_against_the_integral_of_the_density() -> None:
    for freedom in (1, 2, 5, 10, 29, 30, 45, 200):
        t = t975(freedom)
        x = np.linspace(0, t, 200_001)
        log_scale = (
            math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2) - 0.5 * math.log(freedom * math.pi)
        )
        density = np.exp(log_scale - (freedom + 1) / 2 * np.log1p(x * x / freedom))
        area = float(np.sum((density[1:] + density[:-1]) / 2) * (x[1] - x[0]))
        assert area == pytest.approx(0.475, abs=3e-4)
    assert list(T975) == sorted(T975, reverse=True)


def test_welch_against_the_textbook() -> None:
    # Two samples with means 20.16 and 22.12, variances 7.448 and 6.872, both n = 5 by construction.
    a = np.array([19.8, 20.4, 19.6, 17.8, 18.5])
    b = np.array([28.2, 26.6, 20.1, 23.3, 25.2])
    delta, half = welch(a, b)
    va, vb = np.var(a, ddof=1) / 5, np.var(b, ddof=1) / 5
    freedom = (va + vb) ** 2 / (va**2 / 4 + vb**2 / 4)
    assert delta == pytest.approx(5.46)
    assert half == pytest.approx(T975[int(freedom) - 1] * math.sqrt(va + vb))
    assert welch(np.ones(3), np.zeros(3)) == (-1.0, 0.0)
    assert all(math.isnan(v) for v in welch(np.array([1.0, math.nan]), b))
