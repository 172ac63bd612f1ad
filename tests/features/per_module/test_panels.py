"""Per-module signals against plain loops and numpy's own functions."""

from __future__ import annotations

import math
import warnings

import msgspec
import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as arrays

from tests import make
from traindx.features.per_module.panels import (
    before_break,
    column_minima,
    first_known,
    module_panel,
    name_marked_modules,
    panel,
    rows_after_start,
    typical,
)
from traindx.features.shared import Features
from traindx.vocabulary.rule import CannotJudge
from traindx.vocabulary.run import Floats, Panel, frozen_array

VALUES = arrays.arrays(
    np.float64,
    st.tuples(st.integers(1, 8), st.integers(1, 5)),
    elements=st.floats(-1e6, 1e6) | st.just(math.nan) | st.just(math.inf),
)


def made(values: Floats) -> Panel:
    modules = tuple(f"m{i}" for i in range(values.shape[1]))
    return Panel(frozen_array(np.arange(len(values))), modules, frozen_array(values))


@given(VALUES)
def test_typical_is_the_median_of_what_is_finite(values: Floats) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = np.nanmedian(np.where(np.isfinite(values), values, np.nan), axis=0)
    np.testing.assert_array_equal(typical(values), expected)


@given(VALUES)
def test_least_and_first_known_are_what_a_loop_finds(values: Floats) -> None:
    for column, low, first in zip(values.T, column_minima(values), first_known(values, 3), strict=True):
        finite = [v for v in column if math.isfinite(v)]
        head = [v for v in column[:3] if math.isfinite(v)]
        assert low == min(finite) if finite else math.isnan(low)
        assert first == head[0] if head else math.isnan(first)


def test_nothing_is_known_of_no_rows() -> None:
    assert np.isnan(first_known(np.zeros((0, 2)), 3)).all()
    assert np.isnan(column_minima(np.zeros((0, 2)))).all()


def test_warm_up_is_cut_by_steps_not_rows() -> None:
    found = Panel(frozen_array([0, 1, 2, 3, 100]), ("a",), frozen_array(np.arange(5.0)[:, None]))
    assert rows_after_start(found, 0.1).steps.tolist() == [100]
    assert rows_after_start(found, 0.0).steps.tolist() == [0, 1, 2, 3, 100]


def test_rows_end_where_values_break() -> None:
    bad = np.zeros((6, 2))
    bad[4, 1] = 3.0
    ranks = made(np.ones((6, 2)))
    features = Features(make.run({}, panels={"act_nonfinite": made(bad), "act_rank": ranks}))
    assert before_break(features, ranks).steps.tolist() == [0, 1, 2, 3]
    loss = make.run({"train/loss": [1.0, 1.0, math.nan, 1.0, 1.0, 1.0]}, panels={"act_rank": ranks})
    assert before_break(Features(loss), ranks).steps.tolist() == [0, 1]
    at_once = make.run({"train/loss": [math.nan] * 6})
    with pytest.raises(CannotJudge):
        before_break(Features(at_once), ranks)


def test_a_panel_that_is_missing_or_short_says_so() -> None:
    run = make.run({}, panels={"act_rank": made(np.ones((2, 1)))})
    assert panel(Features(run), "act_rank", rows=2).modules == ("m0",)
    with pytest.raises(CannotJudge, match="3 rows of act_rank"):
        panel(Features(run), "act_rank", rows=3)
    with pytest.raises(CannotJudge, match="grad_norm of every module"):
        panel(Features(run), "grad_norm")


def test_a_few_modules_are_named() -> None:
    found = made(np.ones((1, 5)))
    assert name_marked_modules(found, np.array([True, False, True, False, False])) == "m0, m2"
    assert name_marked_modules(found, np.ones(5, dtype=bool)) == "m0, m1, m2 and 2 more"


def test_signals_of_a_log_make_a_panel_in_the_order_of_the_log() -> None:
    run = make.run({"grad_norm/b": [1.0, 2.0], "grad_norm/a": [3.0, 4.0], "grad_norm": [5.0, 6.0]})
    named = msgspec.structs.replace(
        run, originals={"grad_norm/gone": "x", "grad_norm/b": "b", "grad_norm/a": "a"}
    )
    found = module_panel(Features(named), "grad_norm")
    assert found is not None
    assert found.modules == ("b", "a")  # what the run no longer holds is left out
    assert found.values.tolist() == [[1.0, 3.0], [2.0, 4.0]]
    assert module_panel(Features(named), "weight_norm") is None
