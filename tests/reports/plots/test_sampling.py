"""Fewer points, every extreme."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given, settings, strategies as st
from hypothesis.extra import numpy as hnp

from traindx.reports.plots.curves import bucket_starts, extreme_indices, sample

numbers = st.one_of(st.floats(-1e6, 1e6), st.sampled_from([math.nan, math.inf, -math.inf]))


@settings(max_examples=150, deadline=None)
@given(
    y=hnp.arrays(np.float64, st.integers(1, 400), elements=numbers),
    gaps=st.lists(st.integers(0, 50), min_size=400, max_size=400),
    limit=st.integers(30, 120),
)
def test_extremes_of_every_bucket_survive(y: np.ndarray, gaps: list[int], limit: int) -> None:
    x = np.cumsum(gaps[: len(y)]).astype(np.float64)
    got = sample(x, y, limit)
    finite = np.isfinite(y)
    assert len(got.x) <= max(limit, 2)
    assert np.isin(got.x, x).all()
    assert (np.diff(got.x) >= 0).all()
    if finite.any():
        assert np.nanmin(got.y) == y[finite].min()
        assert np.nanmax(got.y) == y[finite].max()
    assert bool(np.isnan(got.y).any()) == (not finite.all()) == (len(got.nonfinite) > 0)
    assert np.isin(got.nonfinite, x[~finite]).all()


@settings(max_examples=80, deadline=None)
@given(y=hnp.arrays(np.float64, st.integers(1, 200), elements=st.floats(-9, 9)), buckets=st.integers(1, 40))
def test_against_a_loop(y: np.ndarray, buckets: int) -> None:
    x = np.arange(len(y), dtype=np.float64)
    starts = bucket_starts(x, buckets)
    ends = [*starts[1:], len(y)]
    assert extreme_indices(y, starts, np.minimum).tolist() == [
        a + int(np.argmin(y[a:b])) for a, b in zip(starts, ends, strict=True)
    ]
    assert extreme_indices(y, starts, np.maximum).tolist() == [
        a + int(np.argmax(y[a:b])) for a, b in zip(starts, ends, strict=True)
    ]


def test_short_signals_are_left_alone() -> None:
    x, y = np.arange(5.0), np.array([1, math.inf, 3, 4, 5.0])
    got = sample(x, y, 10)
    assert got.x.tolist() == x.tolist()
    assert np.isnan(got.y[1])
    assert got.nonfinite.tolist() == [1.0]
