"""Held-out curves: isotonic fits, rises and humps, against slow and plain computations."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, strategies as st

from tests import make
from traindx.features.curves import generalization as g

curves = st.lists(st.integers(-20, 20), min_size=1, max_size=12).map(lambda v: np.array(v, dtype=np.float64))


def naive_isotonic(values: np.ndarray) -> np.ndarray:
    """The min-max formula: at i, the largest over starts a <= i of the smallest over ends b >= i of the mean
    a..b."""
    n = len(values)
    return np.array([
        max(min(values[a : b + 1].mean() for b in range(i, n)) for a in range(i + 1)) for i in range(n)
    ])  # fmt: skip


@given(curves)
def test_isotonic_is_the_min_max_formula(values: np.ndarray) -> None:
    np.testing.assert_allclose(g.isotonic(values), naive_isotonic(values), atol=1e-9)


@given(curves)
def test_kendall_counts_pairs(values: np.ndarray) -> None:
    pairs = list(itertools.combinations(values, 2))
    naive = sum(np.sign(b - a) for a, b in pairs) / len(pairs) if pairs else 0.0
    assert g.kendall(values) == pytest.approx(naive)


def test_median_of_three_by_hand() -> None:
    np.testing.assert_array_equal(g.median_of_three(np.array([5.0, 1.0, 4.0, 9.0, 2.0])), [5, 4, 4, 4, 2])


@pytest.mark.parametrize("seed", range(5))
def test_noise_of_a_valley_is_that_of_its_points(seed: int) -> None:
    t = np.linspace(-1, 1, 60)
    noisy = 3 * t**2 + 0.1 * make.rng(seed).standard_normal(60)
    assert g.valley_noise(noisy, int(np.argmin(noisy))) == pytest.approx(0.1, rel=0.4)


def test_a_smooth_valley_has_no_noise() -> None:
    assert g.valley_noise(np.array([5.0, 3.0, 2.0, 4.0, 4.5]), 2) == 0.0


@given(st.integers(2, 40), st.integers(2, 40))
def test_a_smooth_rise_is_read_exactly(down: int, up: int) -> None:
    values = np.concatenate([np.linspace(2.0, 1.0, down, endpoint=False), np.linspace(1.0, 1.8, up + 1)])
    rise = g.rise_after_low(values)
    assert rise is not None
    assert rise.at == int(np.argmin(values))
    assert abs(rise.after - up) <= 1  # from 9 points on the low is that of a running median
    assert rise.noise == pytest.approx(0.0, abs=1e-9)
    assert rise.order == pytest.approx(1.0)
    assert 1.0 <= rise.low < rise.end <= 1.8


def test_too_few_points_are_no_rise() -> None:
    assert g.rise_after_low(np.array([1.0, 2.0, 3.0])) is None


def test_the_low_of_a_long_curve_is_found_within_its_block() -> None:
    t = np.arange(6000)
    values = np.abs(t - 2500) / 1000 + 0.05 * make.rng(1).standard_normal(6000)
    rise = g.rise_after_low(values)
    assert rise is not None
    assert abs(rise.at - 2500) <= 2 * 6000 / g.BLOCKS
    assert rise.z > 10


def test_false_rises_of_pure_noise_are_rare() -> None:
    """A level curve of white noise, 400 times: 4 sigma of its own noise at the end."""
    found = [g.rise_after_low(make.rng(seed).standard_normal(40)) for seed in range(400)]
    assert sum(r is not None and r.z >= 4 and r.above >= 0.5 for r in found) <= 4


def test_a_hump_is_measured() -> None:
    t = np.arange(100)
    values = 1.0 - t / 200 + 0.8 * np.exp(-(((t - 50) / 8) ** 2))
    seen = g.hump(values)
    assert seen is not None
    assert abs(seen.top - 49) <= 1
    assert abs(seen.before - int(np.argmin(values[:50]))) <= 1
    assert seen.high == pytest.approx(values.max(), abs=0.02)
    assert seen.end == pytest.approx(0.52, abs=0.03)
    assert seen.width == pytest.approx(2 * 8 * np.sqrt(np.log(2)) / 100, abs=0.03)


@given(curves)
def test_a_falling_curve_has_no_hump(values: np.ndarray) -> None:
    assert g.hump(np.sort(values)[::-1]) is None


@given(curves, st.floats(0, 1))
def test_reached_is_the_first_that_is_low_enough(values: np.ndarray, share: float) -> None:
    goal = values[0] - share * (values[0] - values.min())
    assert g.index_reaching(values, share) == next(i for i, v in enumerate(values) if v <= goal)


@given(curves, st.integers(-20, 20), st.integers(0, 11))
def test_reached_again_looks_from_a_start(values: np.ndarray, level: int, start: int) -> None:
    naive = next((i for i in range(start, len(values)) if values[i] <= level), len(values))
    assert g.index_of_return(values, level, start) == max(naive, min(start, len(values))) or start > len(
        values
    )


def test_kendall_of_a_long_curve_needs_no_table_of_pairs() -> None:
    """Ten thousand million pairs would take 80 GB."""
    noise = np.random.default_rng(0).normal(0, 100, 100_000)
    assert g.kendall(np.arange(100_000.0)) == 1.0
    assert g.kendall(noise - np.arange(100_000.0)) == pytest.approx(-1.0, abs=0.01)
    assert abs(g.kendall(noise)) < 0.1
