"""Samples for answers-leave-reference: names and levels as GRPOTrainer of TRL logs them."""

import numpy as np

from tests.make import rng, run
from traindx.vocabulary.run import Run

T = np.arange(60.0)
NOISE = 0.03 * rng(3).standard_normal(60)
LOST = np.where(T < 20, 0.5 + 0.02 * T, 0.1) + NOISE


def tuned(reward: np.ndarray, kl: np.ndarray, entropy: np.ndarray | None = None) -> Run:
    more = {} if entropy is None else {"train/entropy": entropy}
    return run({"train/reward": reward, "train/kl": kl, "train/loss": 0.04 * kl, **more})


def fires() -> dict[str, Run]:
    return {
        "runs away": tuned(LOST, 0.01 * 1.2**T),
        "at once": tuned(0.1 + NOISE - 0.002 * T, 9 + NOISE),
        "one answer, rewarded": tuned(0.5 + 0.007 * T + NOISE, 0.1 * T, 0.9 - 0.014 * T),
    }


def stays_quiet() -> dict[str, Run]:
    return {
        "learns": tuned(0.5 + 0.007 * T + NOISE, 0.005 * T),
        "far, and better": tuned(0.5 + 0.007 * T + NOISE, 0.1 * T),
        "far, and still of many answers": tuned(0.5 + 0.007 * T + NOISE, 0.1 * T, 0.9 - 0.006 * T),
        "one answer, and near": tuned(0.5 + 0.007 * T + NOISE, 0.005 * T, 0.9 - 0.014 * T),
        "worse, and near": tuned(LOST, 0.02 * T),
        "came back": tuned(LOST, np.where((T > 20) & (T < 30), 20.0, 0.2)),
    }
