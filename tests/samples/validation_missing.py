"""Runs without any held-out signal; and those that need none, or have it under another name."""

from __future__ import annotations

import numpy as np

from tests import make
from tests.samples.validation_gap_grows import fall
from tests.trainer import Recipe, train
from traindx.vocabulary.run import Run


def fires() -> dict[str, Run]:
    return {
        "hundred epochs of loss": make.run({"train/loss": make.healthy_loss(100)}),
        "loss and accuracy": make.run({"train/loss": fall(300, 2.3, 0.1), "train/accuracy": 1 - fall(300, 0.9, 0.1)}),
        "with learning rate and norm": make.run(
            {"train/loss": make.healthy_loss(400), "lr": np.full(400, 1e-3), "grad_norm": np.ones(400)}
        ),
    }


def stays_quiet() -> dict[str, Run]:
    loss = make.healthy_loss(400)
    return {
        "with validation, trained": train(Recipe(samples=20000)),
        "one validation": make.run({"train/loss": loss, "val/accuracy": ([399], [0.9])}),
        "short": make.run({"train/loss": make.healthy_loss(20)}),
        "reinforcement learning": make.run({"train/loss": loss, "train/reward": 100 - 90 * loss}),
        "adversarial": make.run({"train/loss": loss, "train/d_loss": loss, "train/g_loss": 1 / loss}),
        "a test score of its own": make.run({"train/loss": loss, "bbox/AP": (np.arange(8) * 50, np.arange(8.0))}),
        "validation alone": make.run({"val/loss": make.healthy_loss(100)}),
    }
