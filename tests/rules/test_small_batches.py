"""Losses of single samples are mostly small and sometimes large: their median says little about their mean."""

from __future__ import annotations

import numpy as np
import pytest

from tests import make
from traindx.features.shared import Features
from traindx.rules import judge_one
from traindx.rules.gen.validation_gap_grows import validation_gap_grows


@pytest.mark.parametrize(("held_out", "status"), [(0.45, "clear"), (3.0, "fired")])
def test_a_mean_is_compared_with_a_mean(held_out: float, status: str) -> None:
    losses = 0.4 * make.rng(4).exponential(size=4000) ** 2.5 / 3.3
    assert np.median(losses) < held_out / 4
    run = make.run({"train/loss": losses, "val/loss": ([3999.0], [held_out])})
    assert judge_one(validation_gap_grows, run, Features(run), {}).status == status
