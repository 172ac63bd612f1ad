"""Generalization long after memorization; and runs in which the two curves simply fall one after the other."""

from __future__ import annotations

import numpy as np

from tests import make
from tests.samples.validation_gap_grows import both, fall, noise
from tests.trainer import Recipe, train
from traindx.vocabulary.run import Run


def late(n: int, at: float, width: float = 0.05) -> np.ndarray:
    """1 before, 0 after the share `at` of the run."""
    return 1 / (1 + np.exp((np.arange(n) / n - at) / width))


def fires() -> dict[str, Run]:
    n = 200
    memorized = 4.6 * np.exp(-np.arange(n) / 4)
    return {
        "loss climbs, then falls": both(
            memorized, 4.6 + 8 * (1 - np.exp(-np.arange(n) / 8)) * late(n, 0.6) - 4.5 * (1 - late(n, 0.6))
        ),
        "accuracy jumps": make.run({
            "train/accuracy": 1 - np.exp(-np.arange(n) / 4),
            "val/accuracy": np.clip(0.99 - 0.98 * late(n, 0.7, 0.03) + noise(n, 0.01), 0, 1),
        }),
        "noisy": both(memorized * (1 + noise(n, 0.2)), 5 * late(n, 0.5) + 0.1 + noise(n, 0.15)),
        "short, as far as it was logged": both(4.8 * np.exp(-np.arange(60)), 6 * late(60, 0.5)),
    }  # fmt: skip


def stays_quiet() -> dict[str, Run]:
    n = 200
    healthy = fall(n, 2.3, 0.4)
    drop = np.where(np.arange(n) < 100, 0.0, -0.4)
    return {
        "plenty of data, trained": train(Recipe(samples=20000)),
        "overfits, trained": train(Recipe(samples=400, label_noise=0.4, hidden=64, steps=800)),
        "both fall together": both(healthy, healthy + 0.1),
        "both drop when the rate does": both(healthy + 0.4 + drop, healthy + 0.5 + drop + noise(n, 0.02)),
        "flat and bad": both(fall(n, 2.3, 0.01), 2.3 + noise(n, 0.05)),
        "both come back to chance": both(
            4.1 - 0.4 * (1 - np.exp(-np.arange(n) / 8)) * late(n, 0.7, 0.01),
            4.1 + 1.0 * (1 - np.exp(-np.arange(n) / 8)) * late(n, 0.7, 0.01),
        ),
        "both climb and come back": both(
            40 + 240 * np.exp(-(((np.arange(n) / n - 0.6) / 0.25) ** 2)) + 20 * noise(n, 1.0),
            60 + 360 * np.exp(-(((np.arange(n) / n - 0.6) / 0.25) ** 2)) + 20 * noise(n, 1.0),
        ),
        "both late": both(2.3 * late(n, 0.6) + 0.1, 2.3 * late(n, 0.62) + 0.2),
    }
