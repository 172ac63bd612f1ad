"""Networks too small, too strongly held back or too hot to learn; and runs that end high for good reasons."""

from __future__ import annotations

import numpy as np

from tests import make
from tests.samples.validation_gap_grows import both, fall, noise
from tests.trainer import CLASSES, Recipe, cosine, train
from traindx.vocabulary.run import Run
from traindx.vocabulary.setup import Setup


def fires() -> dict[str, Run]:
    n = 200
    slow = fall(n, 7.3, 5.8) + noise(n, 0.05)
    return {
        "one hidden unit, weight decay, trained": train(Recipe(hidden=1, weight_decay=0.3)),
        "inputs that say little, trained": train(Recipe(samples=20000, apart=0.2, hidden=4)),
        "slow and poor on both sides": make.run({
            "train/loss": slow, "val/loss": slow + 0.02, "val/accuracy": 0.07 - fall(n, 0.069, 0.0),
        }),
        "ten classes, no score": make.run(
            {"train/loss": fall(n, 2.31, 2.08) + noise(n, 0.01), "val/loss": fall(n, 2.31, 2.09) + noise(n, 0.01, 2)},
            setup=Setup(classes=10),
        ),
        "7,000 words, of which most remain": make.run(
            {"train/loss": fall(n, 8.85, 8.2) + noise(n, 0.02)}, setup=Setup(classes=6950)
        ),
        "jumps up and stays there": make.run(
            {"train/loss": np.where(np.arange(n) < 20, 1.4, 7.8 + 3 * np.exp(-np.arange(n) / 30)) + noise(n, 0.1)}
        ),
        "percent": make.run({"train/loss": fall(n, 0.693, 0.64), "train/accuracy": 50 + fall(n, 0, 9)}),
        "neither loss gets anywhere": make.run({
            "train/loss": fall(30, 0.975, 0.961), "val/loss": 0.958 + 0.012 * np.arange(30) / 30 + noise(30, 0.001),
        }),
    }  # fmt: skip


def stays_quiet() -> dict[str, Run]:
    n = 200
    known = Setup(classes=CLASSES)
    learned = train(Recipe(samples=20000, schedule=cosine))
    return {
        "learned, trained": make.run({k: (s.steps, s.values) for k, s in learned.series.items()}, setup=known),
        "30 % wrong labels, trained": train(Recipe(samples=20000, label_noise=0.3)),
        "fine-tuning that begins low": both(fall(n, 1.5, 1.3) + noise(n, 0.1), fall(n, 1.5, 1.32)[::10], 10),
        "a constant in the loss, a good score": make.run({
            "train/loss": fall(n, 300.0, 253.0), "train/accuracy": 0.97 - fall(n, 0.87, 0.0),
        }),
        "overfits, trained": train(Recipe(samples=400, label_noise=0.4, hidden=64, steps=800)),
        "too short": make.run({"train/loss": fall(30, 2.31, 2.1), "train/accuracy": 0.3 - fall(30, 0.2, 0.0)}),
        "still falling fast": make.run({
            "train/loss": 2.3 - 0.6 * np.arange(n) / n, "train/accuracy": np.arange(n) / 800,
        }),
        "how often each of 7,000 words occurs": make.run(
            {"train/loss": np.append(np.full(10, 8.85), fall(n, 8.85, 7.2)) + noise(n + 10, 0.02)},
            setup=Setup(classes=6950),
        ),
        "falls in a straight line": make.run({
            "train/loss": 0.693 - 0.05 * np.arange(n) / n, "train/accuracy": 50 + fall(n, 0, 9),
        }),
        "fine-tuning that begins near its goal": make.run({
            "train/loss": fall(30, 0.975, 0.94), "val/loss": fall(30, 0.97, 0.95) + noise(30, 0.001),
        }),
        "regression in large units": make.run({"train/loss": fall(n, 2.5e4, 3e3), "val/loss": fall(n, 2.5e4, 3.1e3)}),
        "image classification at 47 %": make.run({
            "train/loss": fall(n, 6.9, 2.3), "val/loss": fall(n, 6.9, 2.4), "val/accuracy": 0.48 - fall(n, 0.479, 0.0),
        }),
    }  # fmt: skip


EXCEPTIONS = {"rescaled": "a loss at chance is ln k, which has no other scale"}
