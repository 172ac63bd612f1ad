"""Samples for rewards-fall-by-small-steps: an agent's rewards with the divergence or entropy of its policy."""

import numpy as np

from tests.make import rng, run
from traindx.vocabulary.run import Run

T = np.arange(60.0)
NOISE = 0.5 * rng(3).standard_normal(60)
FALLS = 9 + 13 * np.exp(-T / 12) + NOISE
SMALL = 0.01 * (1 + rng(4).random(60))


def agent(reward: np.ndarray, name: str = "train/approx_kl", values: np.ndarray = SMALL) -> Run:
    return run({"train/reward": reward, name: values, "train/loss": 0.1 + 0.01 * T})


def fires() -> dict[str, Run]:
    return {
        "by the divergence of updates": agent(FALLS),
        "near the reference": agent(FALLS / 20, "train/kl", 0.002 * T),
        "by the entropy": agent(FALLS, "train/entropy", 1.38 - 0.005 * T),
    }


def stays_quiet() -> dict[str, Run]:
    return {
        "learns": agent(40 - FALLS),
        "large updates": agent(FALLS, values=np.where(T < 40, 2.0, 0.01)),
        "far from the reference": agent(FALLS / 20, "train/kl", 0.2 * T),
        "certain at once": agent(FALLS, "train/entropy", 0.69 * np.exp(-T / 2)),
        "learned before it fell": agent(np.where(T < 30, 20 + 2 * T, 10.0) + NOISE),
        "noise": agent(20 + 10 * NOISE),
    }
