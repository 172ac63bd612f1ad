"""Samples for policy-moves-too-far: levels as PPO of Stable-Baselines3 logs them."""

import numpy as np

from tests.make import rng, run
from traindx.vocabulary.run import Run

T = np.arange(60.0)
REWARD = -1200 + 900 / (1 + np.exp((30 - T) / 6))


def agent(kl: float, name: str = "train/approx_kl", seed: int = 1) -> Run:
    return run({"train/reward": REWARD, name: kl * np.exp(0.6 * rng(seed).standard_normal(60))})


def fires() -> dict[str, Run]:
    return {
        "no clipping": agent(4.0),
        "a rate of .02": agent(0.25),
        "another name": agent(0.4, "losses/approx_kl"),
    }


def stays_quiet() -> dict[str, Run]:
    spike = np.where(T == 20, 0.43, 0.01)
    return {
        "usual updates": agent(0.01),
        "lively updates": agent(0.04),
        "one long step": run({"train/reward": REWARD, "train/approx_kl": spike}),
        "distance from a reference model": agent(12.0, "objective/kl"),
    }
