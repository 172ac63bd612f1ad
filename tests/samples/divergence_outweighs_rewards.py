"""Samples for divergence-outweighs-rewards: names and levels as GRPOTrainer of TRL logs them."""

import numpy as np

from tests.make import rng, run
from traindx.vocabulary.run import Run

T = np.arange(60.0)
NOISE = 0.04 * rng(3).standard_normal(60)
KL = 3e-4 * (1 + rng(4).random(60))


def tuned(beta: float, reward: np.ndarray, kl: np.ndarray = KL) -> Run:
    return run(
        {"train/reward": reward, "train/loss": beta * kl, "train/kl": kl, "train/reward_std": 0.2 + 0 * T}
    )


def fires() -> dict[str, Run]:
    return {"held at its start": tuned(100.0, 0.7 + NOISE), "a large weight": tuned(5.0, 0.2 + NOISE)}


def stays_quiet() -> dict[str, Run]:
    return {
        "learns": tuned(0.04, 0.5 + 0.005 * T + NOISE, 0.002 * T),
        "learns nothing, with a usual weight": tuned(0.04, 0.7 + NOISE),
        "learns despite a large weight": tuned(5.0, 0.5 + 0.005 * T + NOISE),
        "other terms": run(
            {
                "train/reward": 0.7 + NOISE,
                "train/kl": KL,
                "train/loss": 0.3 + 0.1 * rng(6).standard_normal(60),
            }
        ),
    }
