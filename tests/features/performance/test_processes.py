"""Signals of several processes: common steps and differences, against plain loops."""

from __future__ import annotations

import math
import statistics

import numpy as np
import pytest

from tests import make
from traindx.features.performance.processes import (
    Count,
    above_others,
    lagging_count,
    longest_stretch,
    panels_by_rank,
    ranks_of,
    series_by_rank,
    spread_over_ranks,
)
from traindx.features.shared import Features
from traindx.vocabulary.run import Panel, series


def test_common_steps_of_all_ranks() -> None:
    signals = {
        "time/data": ([1, 2, 3, 5, 8], [0.1, 0.2, 0.3, 0.5, 0.8]),
        "rank/1/time/data": ([2, 3, 4, 5, 8], [2.2, 2.3, 2.4, 2.5, 2.8]),
        "rank/4/time/data": ([1, 2, 3, 4, 5, 8], [4.1, 4.2, math.nan, 4.4, 4.5, 4.8]),
        "rank/4/other": ([1], [1.0]),
    }
    run = make.run(signals)
    found = series_by_rank(Features(run), "time/data")
    assert ranks_of(run) == (0, 1, 4)
    assert found is not None
    assert (found.ranks, found.steps.tolist()) == ((0, 1, 4), [2, 5, 8])
    assert found.values.tolist() == [[0.2, 0.5, 0.8], [2.2, 2.5, 2.8], [4.2, 4.5, 4.8]]
    assert series_by_rank(Features(run), "other") is None


def test_a_first_rank_with_a_number_of_its_own() -> None:
    run = make.run(
        {"rank/0/grad_norm": [1.0, 2.0], "rank/1/grad_norm": [1.0, 3.0], "train/loss": [5.0, 4.0]}
    )
    found = series_by_rank(Features(run), "grad_norm")
    assert found is not None
    assert (found.ranks, spread_over_ranks(found.values).tolist()) == ((0, 1), [0.0, pytest.approx(1 / 3)])


def test_a_single_process_has_no_ranks() -> None:
    assert ranks_of(make.run({"train/loss": [1.0]})) == ()


def test_panels_at_common_steps_and_modules() -> None:
    panels = {
        "weight_norm": Panel(np.array([1.0, 5, 9]), ("a", "b", "own"), np.arange(9.0).reshape(3, 3)),
        "rank/1/weight_norm": Panel(np.array([5.0, 9, 13]), ("b", "a"), np.arange(6.0).reshape(3, 2)),
    }
    steps, found = panels_by_rank(make.run({}, panels=panels), "weight_norm")
    assert steps.tolist() == [5, 9]
    assert found[0].tolist() == [[3, 4], [6, 7]]
    assert found[1].tolist() == [[1, 0], [3, 2]]


@pytest.mark.parametrize("ranks", [2, 3, 5])
def test_above_the_median_of_the_others(ranks: int) -> None:
    values = make.rng(1).random((ranks, 7))
    expected = [
        [values[r, n] - statistics.median(values[q, n] for q in range(ranks) if q != r) for n in range(7)]
        for r in range(ranks)
    ]
    np.testing.assert_allclose(above_others(values), expected)


def test_longest_stretch() -> None:
    assert longest_stretch(np.array([True, False, True, True, False])) == (2, 4)
    assert longest_stretch(np.zeros(3, bool)) == (0, 0)


def test_a_rank_that_counts_fewer_steps_in_the_same_time() -> None:
    run = make.run({})
    whole, half = np.arange(100.0), np.arange(50.0)
    for times, expected in ((2 * half, Count(1, 49.0, 99.0)), (half, None), (None, None)):
        logged = {"train/loss": series(whole, whole, whole), "rank/1/train/loss": series(half, half, times)}
        assert lagging_count(type(run)(id="a", source="a", format="a", series=logged), 0.05) == expected
