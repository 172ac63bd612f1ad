"""Samples for LOS004."""

import numpy as np

from tests.lookalikes import power_law
from tests.make import healthy_loss, rng, run
from traindx.vocabulary.run import Run


def level_after(n: int, at: float, start: float, level: float, noise: float, seed: int) -> np.ndarray:
    t = np.arange(n) / n
    return level + (start - level) * np.exp(-8 * t / at) + noise * rng(seed).standard_normal(n)


def fires() -> dict[str, Run]:
    chance = level_after(400, 0.2, 3.5, np.log(10), 0.01, 2)
    return {
        "level from a third on": run({"train/loss": level_after(600, 0.3, 2.3, 1.4, 0.02, 1)}),
        "at chance": run({"train/loss": chance}),
        "few epochs": run({"train/loss": level_after(30, 0.3, 394.0, 253.4, 0.3, 3)}),
        "negative": run({"train/loss": level_after(500, 0.3, 3.0, -4.0, 0.05, 4)}),
    }


def stays_quiet() -> dict[str, Run]:
    return {
        "healthy": run({"train/loss": healthy_loss()}),
        "a slow power law": run(
            {"train/loss": power_law(500, 10.0, 1.0, 20, 0.5) + 0.02 * rng(5).standard_normal(500)}
        ),
        "level only at the very end": run(
            {"train/loss": np.concatenate([np.linspace(3, 1, 400), np.full(60, 1.0)])}
        ),
        "straight": run({"train/loss": np.linspace(3, 1, 200) + 0.02 * rng(6).standard_normal(200)}),
        "never fell": run({"train/loss": 2.3 + 0.01 * rng(7).standard_normal(200)}),
    }
