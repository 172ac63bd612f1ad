"""Loss and score that move apart; and those that only differ in noise or in pace."""

from __future__ import annotations

import numpy as np

from tests import make
from tests.samples.validation_gap_grows import fall, noise
from tests.trainer import Recipe, train
from traindx.vocabulary.run import Run


def curves(loss: np.ndarray, accuracy: np.ndarray, split: str = "val/") -> Run:
    return make.run(
        {split + "loss": loss, split + "accuracy": accuracy, "train/loss": fall(len(loss), 2.3, 0.05)}
    )


def fires() -> dict[str, Run]:
    n, t = 80, np.arange(80)
    learned = 0.9 - fall(n, 0.8, 0.0)
    return {
        "over-confident": curves(
            0.4 + 1.9 * np.exp(-t / 6) + t * 0.006 + noise(n, 0.01), learned + t * 0.0015 + noise(n, 0.003)
        ),
        "score falls as the loss does": curves(
            fall(n, 2.3, 0.3) - t * 0.003, 0.3 + 0.4 * np.exp(-t / 60) + noise(n, 0.005)
        ),
        "error rate on training data": make.run({
            "train/loss": 2.3 - t * 0.02 + noise(n, 0.02), "train/error": 0.3 + t * 0.004 + noise(n, 0.01),
        }),
        "thousands of rows": make.run({
            "train/loss": fall(5000, 2.3, 0.05, 3) + noise(5000, 0.2),
            "train/accuracy": 0.6 - np.arange(5000) / 20000 + noise(5000, 0.05),
        }),
    }  # fmt: skip


def stays_quiet() -> dict[str, Run]:
    n, t = 80, np.arange(80)
    learned = 0.9 - fall(n, 0.8, 0.0)
    return {
        "plenty of data, trained": train(Recipe(samples=20000)),
        "overfits in both, trained": train(Recipe(samples=400, label_noise=0.4, hidden=64, steps=800)),
        "both improve": curves(fall(n, 2.3, 0.3), learned),
        "both get worse": curves(
            0.4 + 1.9 * np.exp(-t / 6) + t * 0.006, learned - np.maximum(t - 15, 0) * 0.003
        ),
        "score saturates": curves(fall(n, 2.3, 0.05), np.minimum(learned, 0.85) + noise(n, 0.003)),
        "level and noisy": curves(
            0.5 + 1.8 * np.exp(-t / 5) + noise(n, 0.05), 0.8 - 0.6 * np.exp(-t / 5) + noise(n, 0.03, 2)
        ),
    }
