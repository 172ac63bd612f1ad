"""Signals of quantization: metrics with and without it, and modules that a loop logs itself."""

from __future__ import annotations

import numpy as np
import pytest

from tests import make
from traindx.features.per_module.quantization import gaps, late_values, module_panel, onset, pairs_of
from traindx.features.shared import Features
from traindx.vocabulary.run import Panel

N = 30


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (("val/loss", "val/quantized_loss"), [("val/quantized_loss", "val/loss")]),
        (("val/accuracy", "val/accuracy_int8", "val/loss"), [("val/accuracy_int8", "val/accuracy")]),
        (("val/float_loss", "val/qat_loss"), [("val/qat_loss", "val/float_loss")]),
        (("val/loss", "train/quantized_loss"), []),  # another split
        (("val/quantized_loss",), []),
        (("val/loss", "val/binary_accuracy", "val/accuracy"), []),
    ],
)
def test_metrics_that_belong_together(names: tuple[str, ...], expected: list[tuple[str, str]]) -> None:
    assert pairs_of(Features(make.run({n: np.ones(N) for n in names}))) == expected


def test_a_gap_is_larger_where_the_quantized_metric_is_worse() -> None:
    t = np.arange(N) / N
    run = make.run({"val/accuracy": 0.5 + 0.4 * t, "val/int8_accuracy": 0.5 + 0.1 * t})
    (gap,) = gaps(Features(run))
    assert gap.curve.values == pytest.approx(0.3 * t)
    assert gap.reference == "val/accuracy"
    assert gap.span == pytest.approx(0.4, rel=0.2)


def test_metrics_on_other_steps_are_compared_where_both_are_known() -> None:
    loss = (np.arange(100.0), 2 - np.arange(100) / 100)
    quantized = (np.arange(45.0, 145, 10), 3 - np.arange(45, 145, 10) / 100)
    (gap,) = gaps(Features(make.run({"val/loss": loss, "val/quantized_loss": quantized})))
    assert list(gap.curve.steps) == [45, 55, 65, 75, 85, 95]
    assert gap.curve.values == pytest.approx(1.0)


def test_modules_that_the_loop_logs() -> None:
    run = make.run(
        {
            "quant/kept/a": (np.array([0.0, 2, 4]), np.array([1.0, 0.5, 0.1])),
            "quant/kept/b": (np.array([4.0]), [0.9]),
        }
    )
    found = module_panel(Features(run), "quant/kept")
    assert found is not None
    assert found.modules == ("a", "b")
    assert list(found.steps) == [0, 2, 4]
    np.testing.assert_array_equal(found.values, [[1.0, np.nan], [0.5, np.nan], [0.1, 0.9]])
    assert late_values(found, 0.5) == pytest.approx([0.3, 0.9])
    assert module_panel(Features(run), "quant/error") is None


def test_since_when_values_stay() -> None:
    panel = Panel(np.arange(6.0), ("a",), np.array([[0.9], [0.1], [np.nan], [0.8], [0.9], [1.0]]))
    assert onset(panel, 0, lambda values: values > 0.5) == 3
    assert onset(panel, 0, lambda values: values > 0.95) == 5
    assert onset(panel, 0, lambda values: values > 0.05) == 0


def test_the_loss_of_a_codebook_is_no_loss_with_quantization() -> None:
    t = np.arange(N) / N
    book = 0.02 + 0.25 * t
    run = make.run({"train/loss": 1.0 - 0.6 * t + book, "train/quant_loss": book})
    assert gaps(Features(run)) == []
