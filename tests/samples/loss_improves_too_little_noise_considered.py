"""Samples for LOS016."""

import numpy as np

from tests.make import healthy_loss, rng, run
from traindx.vocabulary.run import Run


def fires() -> dict[str, Run]:
    return {
        "noise alone": run({"train/loss": 1.5 + 0.3 * rng(1).standard_normal(100)}),
        "reward without a trend": run({"train/reward": 20 + 5 * rng(3).standard_normal(200)}),
    }


def stays_quiet() -> dict[str, Run]:
    return {
        "healthy": run({"train/loss": healthy_loss()}),
        "small but clear": run(
            {"train/loss": np.linspace(1.5, 1.4, 300) + 0.01 * rng(2).standard_normal(300)}
        ),
        "fell within three points": run({"train/loss": 5e-8 + 1.1 * np.exp(-3.0 * np.arange(40.0) ** 2)}),
        "rising": run({"train/loss": np.linspace(1, 3, 200) + 0.03 * rng(4).standard_normal(200)}),
    }
