from __future__ import annotations

import numpy as np
import pytest

from tests import make
from traindx.features.curves.score_scales import best_skill, is_late, scale_of, skill
from traindx.features.shared import Features
from traindx.vocabulary.setup import Setup


@pytest.mark.parametrize(
    ("name", "values", "classes", "expected"),
    [
        ("val/accuracy", [0.1, 0.55], 10, 0.5),  # half of the way from 1/10 to 1
        ("val/accuracy", [10.0, 55.0], 10, 0.5),  # the same in percent
        ("val/auc", [0.5, 0.75], None, 0.5),
        ("val/wer", [100.0, 25.0], None, 0.75),
        ("val/bleu", [0.0, 27.0], None, 0.27),
        ("val/r2", [-0.3, 0.4], None, 0.4),
    ],
)
def test_skill_is_the_way_from_knowing_nothing_to_perfect(
    name: str, values: list[float], classes: int | None, expected: float
) -> None:
    scale = scale_of(name, np.array(values), classes)
    assert scale is not None
    assert skill(values[-1], scale) == pytest.approx(expected)


@pytest.mark.parametrize("name", ["val/best_accuracy", "train/loss", "val/runtime", "val/accuracy_std"])
def test_what_has_no_scale(name: str) -> None:
    assert scale_of(name, np.array([0.3, 0.4])) is None


def test_a_guess_among_unknown_classes_is_not_known() -> None:
    scale = scale_of("val/accuracy", np.array([0.3, 0.4]))
    assert scale is not None
    assert skill(0.4, scale) is None


def test_the_best_score_of_either_split() -> None:
    run = make.run({"val/accuracy": [0.2, 0.55], "train/f1": [0.1, 0.3]}, setup=Setup(classes=10))
    assert best_skill(Features(run)) == pytest.approx((np.median([0.2, 0.55]) - 0.1) / 0.9)


def test_late_is_counted_in_epochs_where_they_are_logged() -> None:
    early = make.run({"train/loss": np.ones(9), "epoch": np.arange(9) / 10})
    assert not is_late(Features(early), 5, 3)
    assert is_late(Features(make.run({"train/loss": np.ones(9)})), 5, 3)
