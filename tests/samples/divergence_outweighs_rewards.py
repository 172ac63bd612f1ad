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


def preferred(beta: float, nats: np.ndarray) -> Run:
    """Pairs whose chosen answers become more likely than the rejected by `nats`."""
    gap = nats + 0.2 * rng(7).standard_normal(60)
    return run({
        "train/loss": np.log1p(np.exp(-beta * nats)), "train/rewards_margins": beta * nats,
        "logps/chosen": -30 + 0.3 * gap, "logps/rejected": -31 - 0.7 * gap,
    })  # fmt: skip


def fires() -> dict[str, Run]:
    return {
        "held at its start": tuned(100.0, 0.7 + NOISE),
        "a large weight": tuned(5.0, 0.2 + NOISE),
        "preferences with a large weight": preferred(100.0, 0.3 * (1 - np.exp(-T / 9))),
    }


def stays_quiet() -> dict[str, Run]:
    return {
        "learns": tuned(0.04, 0.5 + 0.005 * T + NOISE, 0.002 * T),
        "learns nothing, with a usual weight": tuned(0.04, 0.7 + NOISE),
        "learns despite a large weight": tuned(5.0, 0.5 + 0.005 * T + NOISE),
        "preferences with a usual weight": preferred(0.3, 8 * (1 - np.exp(-T / 20))),
        "preferences that have hardly begun": preferred(0.1, 0.001 * T),
        "preferences that move despite a large weight": preferred(5.0, 0.2 * T),
        "other terms": run(
            {
                "train/reward": 0.7 + NOISE,
                "train/kl": KL,
                "train/loss": 0.3 + 0.1 * rng(6).standard_normal(60),
            }
        ),
    }
