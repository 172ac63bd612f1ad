"""Samples for loss-terms-unbalanced: an agent's losses by the names of Stable-Baselines3 and RLlib."""

import numpy as np

from tests.make import rng, run
from traindx.vocabulary.run import Run

T = np.arange(60.0)
REWARD = 20 + 2 * T + rng(3).standard_normal(60)
POLICY = 0.02 * rng(4).standard_normal(60)
VALUE = 40 * np.exp(-T / 30) + 2 * rng(5).random(60)
ENTROPY = 0.69 * np.exp(-T / 50) + 0.01 * rng(6).random(60)


def agent(
    value: float = 0.5, entropy: float = -0.01, spread: float = 0.0, left: np.ndarray = ENTROPY
) -> Run:
    """The total of the terms with these weights, and a `spread` of other samples."""
    total = POLICY + value * VALUE + entropy * left + spread * rng(7).standard_normal(60)
    return run({
        "train/reward": REWARD, "train/loss": total, "train/policy_loss": POLICY, "train/value_loss": VALUE,
        "train/entropy": left,
    })  # fmt: skip


def negative(entropy: float) -> Run:
    """The entropy with a minus, as Stable-Baselines3 logs it."""
    return run({
        "train/reward": REWARD, "train/loss": POLICY + 0.5 * VALUE + entropy * -ENTROPY, "train/value_loss": VALUE,
        "train/policy_gradient_loss": POLICY, "train/entropy_loss": -ENTROPY,
    })  # fmt: skip


def fires() -> dict[str, Run]:
    return {
        "the value loss counts 50 times": agent(value=50.0),
        "and is that of other samples": agent(value=50.0, spread=20.0),
        "entropy has a price": agent(entropy=0.5),
        "entropy has a price, with the other sign": negative(-0.5),
        "entropy outweighs rewards": agent(entropy=-5.0, left=0.69 - 1e-4 * T + 0.001 * rng(6).random(60)),
    }


def stays_quiet() -> dict[str, Run]:
    return {
        "usual weights": agent(),
        "usual weights, with the other sign": negative(0.01),
        "no bonus": agent(entropy=0.0),
        "the value loss counts once": agent(value=1.0),
        "solved, so that nothing is left of the value loss": run(
            {
                "train/reward": REWARD,
                "train/policy_loss": POLICY,
                "train/value_loss": VALUE * 10 ** (-T / 8),
                "train/loss": POLICY + 0.5 * VALUE * 10 ** (-T / 8) + 0.02 * rng(7).standard_normal(60),
            }
        ),
        "the log shows other samples": agent(entropy=0.5, spread=5.0),
        "a large bonus that fades": agent(entropy=-0.2),
    }
