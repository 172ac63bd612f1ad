"""Modules as rows: courses against naive loops, the order of modules, flags on real trainings."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.extra.numpy import arrays

from tests.captured import HEALTHY, captured
from traindx.cli.module_tables import limits
from traindx.features.per_module.table import EDGE, ModuleTable, courses, merge_orders, table
from traindx.vocabulary.run import Panel, Run, frozen_array

LIMITS = limits()


def panel(steps: list[float], values: object, *modules: str) -> Panel:
    return Panel(frozen_array(steps), modules, frozen_array(values))


def one(kind: str, **panels: Panel) -> ModuleTable:
    found = table(Run(id="r", source="r", format="made", panels=panels), kind, LIMITS)  # type: ignore[arg-type]
    assert found is not None
    return found


def words(found: ModuleTable) -> dict[str, list[str]]:
    return {row.module: [flag.word for flag in row.flags] for row in found.rows if row.flags}


VALUES = arrays(
    np.float64,
    st.tuples(st.integers(1, 30), st.integers(1, 4)),
    elements=st.one_of(st.floats(-1e6, 1e6), st.sampled_from([np.nan, np.inf, -np.inf])),
)


@settings(max_examples=150, deadline=None)
@given(VALUES)
def test_courses_are_those_of_a_loop(values: np.ndarray) -> None:
    n, m = values.shape
    steps = np.cumsum(np.arange(1, n + 1)).astype(float)
    found = courses(panel(list(steps), values, *map(str, range(m))))
    first, last = steps[0], steps[-1]
    for i in range(m):
        fine = [(s, v) for s, v in zip(steps, values[:, i], strict=True) if np.isfinite(v)]
        if not fine:
            assert str(i) not in found
            continue
        course, own = found[str(i)], [v for _, v in fine]
        assert (course.values, course.first, course.last) == (len(own), own[0], own[-1])
        assert (course.least, course.most) == (min(own), max(own))
        assert dict(fine)[course.most_step] == max(own)
        assert course.low == pytest.approx(np.quantile(own, 0.05), abs=1e-6)
        assert course.high == pytest.approx(np.quantile(own, 0.95), abs=1e-6)
        late = [v for s, v in fine if s >= first + (1 - EDGE) * (last - first)]
        assert course.late == pytest.approx(np.median(late), abs=1e-6) if late else np.isnan(course.late)


def test_rows_that_are_close_together_count_once() -> None:
    """A flight recorder's dense rows at the end do not outvote the run before them."""
    steps = [*np.arange(0.0, 1000.0, 10.0), *np.arange(1000.0, 1300.0) / 100 + 990]
    values = [[1.0]] * 100 + [[5.0]] * 300
    found = courses(panel(steps, values, "a"))["a"]
    assert np.median(values) == 5.0
    assert found.median == 1.0


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from("abcdefgh"), unique=True), st.data())
def test_the_order_of_the_model_is_kept(order: list[str], data: st.DataObject) -> None:
    """Panels know parts of the modules; united, every one of the parts keeps its order."""
    parts = [[m for m in order if data.draw(st.booleans())] for _ in range(3)]
    parts = [p for p in parts if p] or [["a"]]
    result = merge_orders([*parts, order] if order else parts)
    assert sorted(result) == sorted({m for p in [*parts, order] for m in p})
    for part in [*parts, order]:
        assert [m for m in result if m in part] == part


def test_a_module_that_one_panel_alone_knows_comes_after_its_predecessor() -> None:
    assert merge_orders([("fc1", "fc2", "fc3"), ("norm0", "fc1", "norm1", "fc2")]) == [
        "norm0",
        "fc1",
        "norm1",
        "fc2",
        "fc3",
    ]


@pytest.mark.parametrize("name", HEALTHY)
def test_healthy_trainings_have_no_flags(name: str) -> None:
    for kind in ("gradients", "activations"):
        found = table(captured(name), kind, LIMITS)  # type: ignore[arg-type]
        assert found is not None
        frozen = (
            {"0": ["frozen"], "2": ["frozen"]}
            if name == "healthy_frozen_base" and kind == "gradients"
            else {}
        )
        assert words(found) == frozen
        assert found.learning


@pytest.mark.parametrize(
    ("name", "kind", "module", "word"),
    [
        ("deep_sigmoid", "gradients", "0", "vanishing"),
        ("deep_sigmoid", "activations", "20", "constant"),
        ("weights_zero", "gradients", "0", "no gradient"),
        ("bias_only", "gradients", "0", "never moves"),
        ("rate_tiny", "gradients", "2", "small steps"),
        ("never_cleared", "gradients", "0", "large steps"),
        ("decay_1", "gradients", "0", "shrunk"),
        ("raw_inputs", "gradients", "2", "grown"),
        ("outliers", "gradients", "0", "leaps"),
        ("dead_bias", "activations", "1", "silent"),
        ("saturated", "activations", "1", "saturated"),
        ("deep_tanh", "activations", "20", "dies out"),
        ("weights_large", "activations", "4", "too wide"),
        ("nan_input", "activations", "0", "not finite"),
    ],
)
def test_faults_are_flagged_where_they_are(name: str, kind: str, module: str, word: str) -> None:
    found = table(captured(name), kind, LIMITS)  # type: ignore[arg-type]
    assert found is not None
    assert word in words(found)[module]


def test_the_last_modules_are_not_blamed_for_gradients_that_vanish_before_them() -> None:
    found = table(captured("deep_sigmoid"), "gradients", LIMITS)
    assert found is not None
    assert not any("imbalanced" in several for several in words(found).values())


@pytest.mark.parametrize(("largest", "flagged"), [(900.0, {}), (1100.0, {"c": ["imbalanced"]})])
def test_a_gradient_far_above_the_others(largest: float, flagged: dict[str, list[str]]) -> None:
    """The healthy limit is a thousand times the median module's; embeddings are not compared."""
    values = [[1.0, 1.0, largest, 1e6]] * 3
    found = one("gradients", grad_norm=panel([1.0, 2.0, 3.0], values, "a", "b", "c", "embedding"))
    assert words(found) == flagged


def test_a_gradient_that_dies_on_the_way() -> None:
    steps = [float(s) for s in range(100)]
    found = one(
        "gradients", grad_norm=panel(steps, [[1.0, 1.0 if s < 40 else 0.0] for s in steps], "a", "b")
    )
    assert words(found) == {"b": ["died"]}


def test_not_finite_is_counted_where_it_was_measured() -> None:
    bad = [[0, 0], [0, 0], [1, 0], [1, 0]]
    norm = [[1.0, 1.0], [1.0, 1.0], [np.nan, 1.0], [np.nan, np.nan]]
    steps = [1.0, 2.0, 3.0, 4.0]
    found = one(
        "gradients", grad_norm=panel(steps, norm, "a", "b"), grad_nonfinite=panel(steps, bad, "a", "b")
    )  # fmt: skip
    a, b = found.rows
    assert (a.nonfinite, a.broke, a.ends_nonfinite) == (0.5, 3.0, True)
    assert (b.nonfinite, b.broke, b.ends_nonfinite) == (0.0, None, False)
    assert words(found) == {"a": ["not finite"]}
    without = one("gradients", grad_norm=panel(steps, norm, "a", "b"))
    assert all(row.nonfinite is None for row in without.rows)  # NaN alone may mean "not measured"
    infinite = one("gradients", grad_norm=panel(steps, [[1.0], [np.inf], [1.0], [1.0]], "a"))
    assert (infinite.rows[0].nonfinite, infinite.rows[0].ends_nonfinite) == (0.25, False)


def test_units_are_judged_before_the_net_breaks() -> None:
    """With NaN in the net, no unit is above zero: that is not silence."""
    steps = [float(s) for s in range(10)]
    zeros = panel(steps, [[0.1] if s < 5 else [1.0] for s in steps], "relu")
    bad = panel(steps, [[0.0] if s < 5 else [9.0] for s in steps], "relu")
    found = one("activations", act_zero_fraction=zeros, act_nonfinite=bad)
    assert found.rows[0].silent == 0.1
    assert words(found) == {"relu": ["not finite"]}


def test_a_run_without_modules_has_no_table() -> None:
    run = Run(id="r", source="r", format="made", panels={"grad_norm": panel([], np.empty((0, 1)), "a")})
    assert table(run, "gradients", LIMITS) is None
    assert table(run, "activations", LIMITS) is None


def test_a_single_row_is_enough() -> None:
    found = one("gradients", grad_norm=panel([7.0], [[0.5]], "a"))
    course = found.rows[0].courses["grad_norm"]
    assert {
        course.first,
        course.early,
        course.median,
        course.settled,
        course.late,
        course.last,
        course.high,
    } == {0.5}
    assert not words(found)
