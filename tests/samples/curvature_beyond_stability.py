"""Samples of curvature-beyond-stability."""

from __future__ import annotations

import numpy as np

from tests import make
from traindx.vocabulary.run import Run
from traindx.vocabulary.setup import Setup


def curved(loss: np.ndarray, curvature: float, rate: float, momentum: float = 0.9, **facts: bool) -> Run:
    spread = np.exp(0.2 * make.rng(2).standard_normal(len(loss)))
    signals = {"train/loss": loss, "curvature/max": curvature * spread, "lr": np.full(len(loss), rate)}
    return make.run(signals, setup=Setup(optimizer="SGD", momentum=momentum, lr=rate, facts=facts))


def fires() -> dict[str, Run]:
    flat = 2.303 + 0.01 * make.rng(1).standard_normal(200)
    return {
        "a rate of 10": curved(flat, 1.0, 10.0),
        "raw targets": curved(flat, 556.0, 0.02),
        "without momentum": curved(flat, 50.0, 0.1, 0.0),
        "with Nesterov momentum": curved(flat, 30.0, 0.1, nesterov=True),
    }


def stays_quiet() -> dict[str, Run]:
    return {
        "far below": curved(make.healthy_loss(200), 0.7, 0.1),
        "at the edge": curved(make.healthy_loss(200), 40.0, 0.1),
        "with momentum": curved(make.healthy_loss(200), 30.0, 0.1),
    }
