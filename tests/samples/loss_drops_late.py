"""Samples for LOS010."""

import numpy as np

from tests.lookalikes import s_curve, warm_up
from tests.make import healthy_loss, rng, run
from traindx.vocabulary.run import Run


def fires() -> dict[str, Run]:
    reward = np.concatenate([30 + 8 * rng(1).standard_normal(280), 300 + 60 * rng(2).standard_normal(200)])
    early = 2.0 - 0.5 * np.exp(-np.arange(300) / 5)
    twice = np.concatenate([4.0 - early, 1.9 - 1.6 * (1 - np.exp(-np.arange(200) / 8))])
    return {
        "s-curve": run({"train/loss": s_curve()}),
        "reward": run({"train/reward": reward}),
        "after a first gain": run({"train/loss": twice + 0.02 * rng(3).standard_normal(500)}),
    }


def stays_quiet() -> dict[str, Run]:
    return {
        "healthy": run({"train/loss": healthy_loss()}),
        "flat throughout": run({"train/loss": 2.3 + 0.02 * rng(4).standard_normal(300)}),
        "warm-up": run({"train/loss": warm_up()[0]}),
        "straight": run({"train/loss": np.linspace(3, 1, 300) + 0.02 * rng(5).standard_normal(300)}),
    }
