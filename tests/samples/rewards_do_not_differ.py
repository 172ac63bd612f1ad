"""Samples for rewards-do-not-differ: names and levels as GRPOTrainer of TRL logs them."""

import numpy as np

from tests.make import rng, run
from traindx.vocabulary.run import Run

T = np.arange(20.0)


def tuned(reward: np.ndarray, spread: np.ndarray) -> Run:
    return run({"train/reward": reward, "train/reward_std": spread, "train/loss": 0 * T, "train/kl": 0 * T})


def fires() -> dict[str, Run]:
    return {"never right": tuned(0 * T, 0 * T), "always the same": tuned(0 * T - 1, 0 * T)}


def stays_quiet() -> dict[str, Run]:
    return {
        "learns": tuned(0.02 * T, 0.2 + 0 * T),
        "rarely right": tuned(np.where(T == 12, 0.01, 0.0), np.where(T == 12, 0.1, 0.0)),
        "perfect at last": tuned(np.minimum(0.1 * T, 1.0), np.where(T < 10, 0.3, 0.0)),
        "noise": tuned(0.5 + 0.01 * rng(2).standard_normal(20), 0 * T),
    }
