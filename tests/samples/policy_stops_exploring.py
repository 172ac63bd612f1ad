"""Samples for policy-stops-exploring: levels as PPO of Stable-Baselines3 logs them."""

import numpy as np

from tests.make import rng, run
from traindx.vocabulary.run import Run

T = np.arange(60.0)
GONE = -0.69 * np.exp(-T / 3)


def agent(reward: np.ndarray, entropy: np.ndarray, name: str = "train/entropy_loss") -> Run:
    return run({"train/reward": reward + 0.2 * rng(2).standard_normal(60), name: entropy})


def fires() -> dict[str, Run]:
    return {
        "what was learned is lost": agent(np.where(T < 8, 23 + 4 * T, 9.4), GONE),
        "nothing was ever learned": agent(np.full(60, -500.0), GONE),
        "with the other sign": agent(np.where(T < 8, 23 + 4 * T, 9.4), -GONE, "train/entropy"),
    }


def stays_quiet() -> dict[str, Run]:
    learned = 23 + 477 / (1 + np.exp((25 - T) / 4))
    return {
        "solved, and certain": agent(learned, GONE),
        "still curious": agent(np.where(T < 8, 23 + 4 * T, 9.4), np.full(60, -0.6)),
        "a temperature's target": agent(np.where(T < 8, 23 + 4 * T, 9.4), GONE, "train/target_entropy"),
        "a cross-entropy": agent(np.where(T < 8, 23 + 4 * T, 9.4), GONE, "train/cross_entropy"),
    }
