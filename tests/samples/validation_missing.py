"""Runs without any held-out signal; and those that need none, or have it under another name."""

from __future__ import annotations

import msgspec
import numpy as np

from tests import make
from tests.samples.validation_gap_grows import fall, noise
from tests.trainer import Recipe, train
from traindx.vocabulary.run import Run


def passed(n: int, epochs: float, **more: object) -> dict[str, object]:
    """A healthy loss of `n` points over some epochs, and what else was logged."""
    return {"train/loss": make.healthy_loss(n), "epoch": np.linspace(0.0, epochs, n), **more}


def fires() -> dict[str, Run]:
    return {
        "ten epochs of loss": make.run(passed(100, 10.0)),
        "loss and accuracy": make.run(passed(300, 3.0) | {"train/accuracy": 1 - fall(300, 0.9, 0.1)}),
        "with learning rate and norm": make.run(
            passed(400, 2.0, lr=np.full(400, 1e-3), grad_norm=np.ones(400))
        ),
        "few points of fine-tuning": make.run(passed(12, 3.0)),
        "validation is a copy of training": make.run(
            {"train/loss": make.healthy_loss(100), "val/loss": make.healthy_loss(100)}
        ),
        "steps are epochs": msgspec.structs.replace(
            make.run({"train/loss": make.healthy_loss(100)}), axis="epoch"
        ),
    }


def stays_quiet() -> dict[str, Run]:
    flat = {"train/loss": 1.4 + noise(100, 0.2), "epoch": np.linspace(0.0, 5.0, 100)}
    score = (np.arange(8) * 50, np.arange(8.0))
    validated = {k: (s.steps, s.values) for k, s in train(Recipe(samples=2000)).series.items()}
    return {
        "with validation, trained": make.run(validated | {"epoch": np.arange(1500) / 31}),
        "one validation": make.run(passed(400, 5.0) | {"val/accuracy": ([399], [0.9])}),
        "alike but for some values": make.run(
            {
                "train/loss": make.healthy_loss(100),
                "val/loss": make.healthy_loss(100) + (np.arange(100) % 7 == 0),
            }
        ),
        "not twice through the data": make.run(passed(400, 1.0)),
        "learns nothing": make.run(flat),
        "reinforcement learning": make.run(passed(400, 5.0) | {"train/reward": np.arange(400.0)}),
        "adversarial": make.run(
            passed(400, 5.0) | {"train/d_loss": np.ones(400), "train/g_loss": np.ones(400)}
        ),
        "a test score of its own": make.run(passed(400, 5.0) | {"bbox/AP": score}),
        "validation alone": make.run({"val/loss": make.healthy_loss(100), "epoch": np.arange(100.0)}),
    }
