"""What an accuracy says where rare classes count more than their share."""

from __future__ import annotations

import numpy as np
import pytest

from tests import make
from traindx.causes.grades.curves import val_skill
from traindx.features.shared import Features
from traindx.vocabulary.setup import Setup


def skill(level: float, *, weighted: bool) -> float | None:
    setup = Setup(classes=2).with_facts({"class_majority_share": 0.97, "loss_weighted": weighted}, "capture")
    run = make.run({"train/loss": make.healthy_loss(60), "val/accuracy": np.full(12, level)}, setup=setup)
    return val_skill(run, Features(run))


def test_less_accuracy_than_the_largest_class_gives_is_no_lack_of_skill_there() -> None:
    assert skill(0.87, weighted=True) is None
    plain = skill(0.87, weighted=False)
    assert plain is not None
    assert plain < 0


def test_more_accuracy_than_that_is_skill_in_either_case() -> None:
    assert skill(0.99, weighted=True) == skill(0.99, weighted=False) == pytest.approx(2 / 3)
