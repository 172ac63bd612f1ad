"""Samples for LOS005."""

import numpy as np

from tests.lookalikes import power_law
from tests.make import healthy_loss, rng, run
from traindx.vocabulary.run import Run


def fires() -> dict[str, Run]:
    noise = rng(1)
    return {
        "straight": run({"train/loss": np.linspace(2.3, 2.0, 300) + 0.02 * noise.standard_normal(300)}),
        "almost straight": run(
            {"train/loss": 7.3 - 1.6 * (np.arange(200) / 200) ** 0.9 + 0.05 * noise.standard_normal(200)}
        ),
        "few epochs": run({"train/loss": np.linspace(1.1, 0.98, 20) + 0.001 * noise.standard_normal(20)}),
    }


def stays_quiet() -> dict[str, Run]:
    noise = rng(2)
    return {
        "healthy": run({"train/loss": healthy_loss()}),
        "flat": run({"train/loss": 2.3 + 0.02 * noise.standard_normal(300)}),
        "straight but far": run(
            {"train/loss": np.linspace(2.3, 0.8, 300) + 0.02 * noise.standard_normal(300)}
        ),
        "a small gain, soon done": run(
            {"train/loss": power_law(300, 2.3, 2.0, 40, 1.2) + 0.01 * noise.standard_normal(300)}
        ),
    }
