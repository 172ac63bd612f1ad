"""Which curve shows how well a run goes."""

from __future__ import annotations

import numpy as np
from msgspec.structs import replace

from tests import make
from traindx.features.shared import Features


def test_the_reward_of_the_task_comes_before_that_of_exploring() -> None:
    falls, rises = np.linspace(1.6, 0.0, 60), np.linspace(0.0, 90.0, 60)
    both = make.run({"train/loss": falls, "train/mean_int_reward": falls, "train/reward": rises})
    assert Features(both).objective_name == "train/reward"
    alone = make.run({"train/loss": falls, "train/mean_int_reward": falls})
    assert Features(alone).objective_name == "train/mean_int_reward"


def test_scores_in_no_order_and_without_a_step_are_no_run() -> None:
    rng = np.random.default_rng(3)
    samples, rising = rng.uniform(0.6, 0.95, 40), np.linspace(0.5, 0.9, 40) + rng.normal(0, 0.02, 40)

    def objective(values: object, axis: str, *names: str) -> str | None:
        return Features(replace(make.run(dict.fromkeys(names, values)), axis=axis)).objective_name

    assert objective(samples, "row", "train/dice", "train/recall") is None
    for values, axis in ((samples, "epoch"), (rising, "row"), (samples[:8], "row")):
        assert objective(values, axis, "train/dice", "train/recall") == "train/dice"
    assert objective(samples, "row", "train/dice", "train/loss") == "train/loss"
    assert objective(samples, "row", "train/reward") == "train/reward"
    counted = replace(make.run({"train/dice": samples, "generation": np.arange(40.0)}), axis="row")
    assert Features(counted).objective_name == "train/dice"
