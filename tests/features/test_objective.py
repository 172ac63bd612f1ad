"""Which curve shows how well a run goes."""

from __future__ import annotations

import numpy as np

from tests import make
from traindx.features.shared import Features


def test_the_reward_of_the_task_comes_before_that_of_exploring() -> None:
    falls, rises = np.linspace(1.6, 0.0, 60), np.linspace(0.0, 90.0, 60)
    both = make.run({"train/loss": falls, "train/mean_int_reward": falls, "train/reward": rises})
    assert Features(both).objective_name == "train/reward"
    alone = make.run({"train/loss": falls, "train/mean_int_reward": falls})
    assert Features(alone).objective_name == "train/mean_int_reward"
