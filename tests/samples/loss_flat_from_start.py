"""Samples for LOS003."""

import numpy as np

from tests.lookalikes import fine_tune, s_curve, warm_up
from tests.make import healthy_loss, rng, run
from traindx.vocabulary.run import Run


def running_mean(level: np.ndarray, scatter: float, seed: int) -> np.ndarray:
    """The mean reward of the last 100 episodes, as it is logged after every tenth: neighbours hardly differ."""
    episodes = np.repeat(level, 10) + scatter * rng(seed).standard_normal(10 * len(level))
    total = np.cumsum(np.concatenate([np.full(100, episodes[0]), episodes]))
    return (total[100:] - total[:-100])[::10] / 100


def wandering(n: int) -> np.ndarray:
    """A level that goes up and down six times, from the top."""
    return np.cos(12 * np.pi * np.arange(n) / n)


def fires() -> dict[str, Run]:
    noise = rng(1)
    chance = np.log(10) * (1 + 0.003 * noise.standard_normal(200))
    return {
        "ln 10": run({"train/loss": chance}),
        "rate far too low": run(
            {"train/loss": np.linspace(2.311, 2.309, 100) + 2e-4 * noise.standard_normal(100)}
        ),
        "exactly constant": run({"train/loss": np.full(50, 37.2)}),
        "noisy, long, level": run({"train/loss": 1.5 + 0.08 * noise.standard_normal(3000)}),
        "no rate": run({"train/loss": 1.5 + 0.05 * noise.standard_normal(400), "lr": np.zeros(400)}),
        "parts of a loss": run(
            {
                "train/box_loss": 0.8 + 0.01 * noise.standard_normal(100),
                "train/mask_loss": 1.2 + 0.01 * noise.standard_normal(100),
            }
        ),
        "an agent that often fails": run(
            {
                "train/reward": 279 + 100 * noise.standard_normal(400),
                "train/success": (noise.random(400) < 0.5).astype(float),
            }
        ),
        "an agent whose running mean wanders": run(
            {"train/reward": running_mean(300 * wandering(1000) + 0.1 * np.arange(1000) - 6000, 900, 4)}
        ),
        "an agent that has explored": run(
            {
                "train/reward": -300 + 20 * noise.standard_normal(60),
                "Epsilon": 0.95 ** np.arange(60),
            }
        ),
    }


def stays_quiet() -> dict[str, Run]:
    noise = rng(2)
    accuracy = np.linspace(0.5, 0.9, 100) + 0.01 * noise.standard_normal(100)
    rising = running_mean(300 * wandering(1000) + 2 * np.arange(1000) - 6000, 900, 4)
    return {
        "healthy": run({"train/loss": healthy_loss()}),
        "s-curve": run({"train/loss": s_curve()}),
        "warm-up": run({"train/loss": warm_up()[0]}),
        "slow but sure": run({"train/loss": np.linspace(2.3, 2.1, 300) + 0.02 * noise.standard_normal(300)}),
        "the metric improves": run(
            {"train/loss": 0.7 + 0.01 * noise.standard_normal(100), "train/accuracy": accuracy}
        ),
        "little in few points, and surely": run(
            {"train/loss": np.linspace(0.695, 0.686, 130) + 0.003 * noise.standard_normal(130)}
        ),
        "one part of a loss, while another falls": run(
            {
                "train/pull_loss": 0.1 + 0.03 * noise.standard_normal(100),
                "train/rebuild_loss": 22 * healthy_loss(100),
            }
        ),
        "a running mean that rises": run({"train/reward": rising}),
        "an agent that succeeds throughout": run(
            {
                "train/reward": 279 + 100 * noise.standard_normal(400),
                "train/success": (noise.random(400) < 0.98).astype(float),
            }
        ),
        "accuracies after editing a fact": run(
            {"train/loss": healthy_loss(), "val/rewrite_acc": np.zeros(200)}
        ),
        "fine-tune": run({"train/loss": fine_tune(200)}),
        "a score that is good from the start": run(
            {"train/f1_score": 0.97 + 0.001 * noise.standard_normal(40)}
        ),
    }


EXCEPTIONS = {
    "rescaled: ln 10": "whether a level is chance depends on its absolute value; the rule still fires",
    "halved: little in few points, and surely": "of half the points it is not sure that they fall",
}
