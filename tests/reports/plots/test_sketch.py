"""Curves drawn with characters."""

from __future__ import annotations

import math

import numpy as np
import pytest

from traindx.reports.plots import sketch
from traindx.vocabulary.run import series


def test_a_straight_line_is_drawn_straight() -> None:
    planned = sketch.plan(series(range(200), np.linspace(0, 1, 200)), {}, columns=40, rows=8)
    assert planned is not None
    heights = [planned.dots.shape[0] - 1 - np.flatnonzero(column).mean() for column in planned.dots.T]
    assert np.abs(np.array(heights) - np.linspace(0, 31, 80)).max() < 1.0
    assert (planned.low, planned.high, planned.log) == (0.0, 1.0, False)


def test_braille_and_ascii_show_the_same_dots() -> None:
    dots = np.zeros((4, 8), dtype=bool)
    dots[0, 0] = dots[3, 3] = dots[1, 4] = dots[2, 5] = True
    assert sketch.characters(dots, unicode=True) == "⠁⢀⠢ "
    assert sketch.characters(dots, unicode=False) == "'.: "


def test_extremes_of_many_points_are_kept() -> None:
    values = np.ones(100_000)
    values[70_000], values[20_000] = 1.4, 0.6
    planned = sketch.plan(series(range(100_000), values), {}, columns=50, rows=6)
    assert planned is not None
    top, bottom = np.flatnonzero(planned.dots[0]), np.flatnonzero(planned.dots[-1])
    assert top.tolist() == [pytest.approx(70, abs=1)]
    assert bottom.tolist() == [pytest.approx(20, abs=1)]


def test_gaps_stay_open() -> None:
    values = np.ones(100)
    values[40:60] = math.nan
    planned = sketch.plan(series(range(100), values), {}, columns=50, rows=4)
    assert planned is not None
    drawn = np.flatnonzero(planned.dots.any(axis=0))
    assert not ((drawn > 42) & (drawn < 58)).any()
    assert min(planned.bad) == pytest.approx(20, abs=1)
    assert max(planned.bad) == pytest.approx(29, abs=1)


def test_scales() -> None:
    wide = np.geomspace(1e-3, 1e3, 200)
    assert sketch.value_range(wide)[2]
    assert not sketch.value_range(wide - 1)[2]
    noise = np.sin(np.arange(400.0))
    noise[100] = 1e6
    low, high, log = sketch.value_range(noise)
    assert not log
    assert -1.1 < low < high < 3
    assert sketch.value_range(np.full(9, 5.0))[:2] == (4.5, 5.5)


def test_what_cannot_be_drawn() -> None:
    assert sketch.plan(series([1], [2.0]), {}, 40, 8) is None
    assert sketch.plan(series([1, 2], [math.nan, 1.0]), {}, 40, 8) is None
    assert sketch.plan(series([3, 3], [1.0, 2.0]), {}, 40, 8) is None


def test_marks_and_lines_have_one_width() -> None:
    planned = sketch.plan(
        series(range(500), np.arange(500.0)), {1: 250.0, 2: 0.0, 3: 9999.0}, columns=60, rows=8
    )
    assert planned is not None
    lines, below = sketch.draw(planned)
    assert len(lines) == 8
    assert {len(line) for line in lines} == {len(below[0])} == {len(below[1])}
    assert below[0].rstrip()[-1] == "3"
    assert below[1].split() == ["0", "499"]
    assert "┊" in lines[0]


@pytest.mark.parametrize(
    "values",
    [
        [2.3021, 2.3002, 2.2984],
        [1e-9, 2e-9, 3e-9],
        [5.0, 2.5, 0.0],
        [1.0, 1.0, 1.0],
        [1e6, 1e6 + 7, 1e6 + 13],
    ],
)
def test_labels_of_different_values_differ_and_are_near_them(values: list[float]) -> None:
    names = sketch.distinct_labels(values)
    assert len(set(names)) == len(set(values))
    marks = [float(n.replace(",", "")) for n in names]
    span = max(values) - min(values)
    assert all(abs(a - b) <= max(span, abs(b) * 0.005) for a, b in zip(marks, values, strict=True))
