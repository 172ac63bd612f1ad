"""Samples for LOS015."""

import numpy as np

from tests.lookalikes import power_law
from tests.make import healthy_loss, rng, run
from traindx.vocabulary.run import Run


def fires() -> dict[str, Run]:
    noise = rng(1)
    return {
        "straight": run({"train/loss": np.linspace(3, 1, 200) + 0.03 * noise.standard_normal(200)}),
        "one epoch of many": run(
            {"train/loss": 2.3 * np.exp(-np.arange(100) / 80) + 0.02 * noise.standard_normal(100)}
        ),
        "reward": run({"train/reward": np.linspace(10, 200, 300) + 8 * noise.standard_normal(300)}),
    }


def stays_quiet() -> dict[str, Run]:
    noise = rng(2)
    return {
        "healthy": run({"train/loss": healthy_loss()}),
        "level": run({"train/loss": power_law(300, 3, 1, 200, 2) + 0.01 * noise.standard_normal(300)}),
        "flat": run({"train/loss": 2.3 + 0.02 * noise.standard_normal(300)}),
        "rising": run({"train/loss": np.linspace(1, 3, 200) + 0.03 * noise.standard_normal(200)}),
    }
