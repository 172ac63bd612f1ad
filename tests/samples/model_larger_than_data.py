"""Samples of model-larger-than-data."""

from __future__ import annotations

import numpy as np

from tests import make
from tests.captured import several
from traindx.vocabulary.run import Run
from traindx.vocabulary.setup import Setup


def fires() -> dict[str, Run]:
    return {
        "a million parameters, no held-out data": make.run(
            {"train/loss": make.healthy_loss()}, setup=Setup(parameters=1e6, dataset_size=5000.0)
        ),
        "and the held-out loss rises": make.run(
            {
                "train/loss": make.healthy_loss(),
                "val/loss": np.r_[make.healthy_loss(100), np.linspace(0.35, 1.5, 300)],
            },
            setup=Setup(parameters=1e6, dataset_size=5000.0),
        ),
    }


def stays_quiet() -> dict[str, Run]:
    return {
        **several("healthy", "healthy_norm", "healthy_values"),
        "held-out data keep up": make.run(
            {"train/loss": make.healthy_loss(), "val/loss": make.healthy_loss(seed=1)},
            setup=Setup(parameters=1e6, dataset_size=5000.0),
        ),
    }
