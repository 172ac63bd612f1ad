"""Validation better than training, by dropout above all; and differences that are noise or an early lag."""

from __future__ import annotations

import numpy as np

from tests import make
from tests.samples.validation_gap_grows import both, fall, noise
from tests.trainer import Recipe, train
from traindx.vocabulary.run import Run


def fires() -> dict[str, Run]:
    n = 60
    return {
        "dropout 0.8, trained": train(Recipe(samples=20000, dropout=0.8)),
        "half of the labels noised in training, trained": train(Recipe(samples=20000, label_noise=0.4)),
        "accuracy": make.run({
            "train/accuracy": 0.8 - fall(n, 0.7, 0.0) + noise(n, 0.01),
            "val/accuracy": 0.9 - fall(n, 0.6, 0.0) + noise(n, 0.01, 2),
        }),
        "negative loss": both(fall(n, 1.0, -4.0), fall(n, 0.0, -5.0) + noise(n, 0.05)),
    }  # fmt: skip


def stays_quiet() -> dict[str, Run]:
    n = 60
    healthy = fall(n, 2.3, 0.4)
    return {
        "plenty of data, trained": train(Recipe(samples=20000)),
        "overfits, trained": train(Recipe(samples=400, label_noise=0.4, hidden=64, steps=800)),
        "equal but for noise": both(healthy + noise(n, 0.05), healthy + noise(n, 0.05, 2)),
        "a hair better": both(healthy, healthy - 0.01),
        "training lags in the first epochs": both(healthy + 1.5 * np.exp(-np.arange(n) / 6), healthy),
        "very noisy validation": both(healthy + 0.1, healthy + noise(n, 0.3)),
    }
