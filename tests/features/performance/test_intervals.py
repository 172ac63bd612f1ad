"""Stretches of time against a naive count of ticks."""

from __future__ import annotations

import numpy as np
from hypothesis import given, strategies as st

from traindx.features.performance.intervals import (
    Stretches,
    bridge_gaps,
    covered_time,
    exclusive,
    gaps_between,
    nest_calls,
    sums,
    union,
)

TICKS = 60
pairs = st.lists(st.tuples(st.integers(0, TICKS - 1), st.integers(0, 12)), max_size=12)


def stretches(given: list[tuple[int, int]]) -> Stretches:
    starts = np.array([a for a, _ in given], dtype=float)
    return Stretches(starts, np.array([min(a + n, TICKS) for a, n in given], dtype=float))


def ticks(given: Stretches) -> set[int]:
    return {
        t
        for a, b in zip(given.starts.tolist(), given.stops.tolist(), strict=True)
        for t in range(int(a), int(b))
    }


def windows(edges: list[int]) -> Stretches:
    marks = np.array([0, *edges, TICKS], dtype=float)
    return Stretches(marks[:-1], marks[1:])


some_windows = st.lists(st.integers(1, TICKS - 1), max_size=4, unique=True).map(sorted).map(windows)


@given(pairs)
def test_a_union_covers_the_same_and_is_disjoint(given_: list[tuple[int, int]]) -> None:
    found = union(stretches(given_))
    assert ticks(found) == ticks(stretches(given_))
    assert (found.starts[1:] > found.stops[:-1]).all()


@given(pairs, some_windows)
def test_what_is_covered_of_windows(given_: list[tuple[int, int]], over: Stretches) -> None:
    inside = [
        ticks(stretches(given_)) & ticks(Stretches(*np.array([[a], [b]])))
        for a, b in zip(*over, strict=True)
    ]
    np.testing.assert_allclose(covered_time(stretches(given_), over), [len(t) for t in inside])


@given(pairs, pairs, some_windows)
def test_parts_exclude_each_other_and_add_up(
    one: list[tuple[int, int]], other: list[tuple[int, int]], over: Stretches
) -> None:
    split = exclusive({"one": stretches(one), "other": stretches(other)}, over)
    np.testing.assert_allclose(split["one"] + split["other"] + split[""], over.stops - over.starts)
    second = ticks(stretches(other)) - ticks(stretches(one))
    np.testing.assert_allclose(split["other"].sum(), len(second))


@given(pairs, some_windows)
def test_gaps_are_what_is_not_covered(given_: list[tuple[int, int]], over: Stretches) -> None:
    gaps, at = gaps_between(stretches(given_), over)
    assert ticks(gaps) == set(range(TICKS)) - ticks(stretches(given_))
    for a, b, window in zip(gaps.starts, gaps.stops, at, strict=True):
        assert over.starts[window] <= a < b <= over.stops[window]


def test_gaps_without_a_separator_are_closed() -> None:
    found = bridge_gaps(Stretches(np.array([0.0, 4.0, 10.0]), np.array([2.0, 6.0, 12.0])), np.array([8.0]))
    assert found.starts.tolist() == [0.0, 10.0]
    assert found.stops.tolist() == [6.0, 12.0]


def test_own_time_of_nested_calls() -> None:
    """f (0-10) calls g (1-4), which calls h (2-3), and k (5-9); another thread runs meanwhile."""
    calls = Stretches(np.array([0.0, 1.0, 2.0, 5.0, 0.0]), np.array([10.0, 4.0, 3.0, 9.0, 7.0]))
    found = nest_calls(calls, np.array([0, 0, 0, 0, 1]))
    assert found.own.tolist() == [3.0, 2.0, 1.0, 4.0, 7.0]
    assert found.top.tolist() == [1, 0, 0, 0, 1]


def test_sums_by_window_and_group() -> None:
    found = sums(np.array([1.0, 2.0, 4.0]), np.array([0, 1, 1]), np.array([0, 1, 1]), (2, 2))
    assert found.tolist() == [[1.0, 0.0], [0.0, 6.0]]
