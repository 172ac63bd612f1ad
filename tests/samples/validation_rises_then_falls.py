"""Humps in the held-out loss that are taken back; and spikes, noise and instabilities that are none."""

from __future__ import annotations

import numpy as np

from tests import make
from tests.samples.validation_gap_grows import both, fall, noise
from tests.trainer import Recipe, train
from traindx.vocabulary.run import Run


def bump(n: int, centre: float, width: float, height: float) -> np.ndarray:
    return height * np.exp(-((((np.arange(n) / n) - centre) / width) ** 2))


def fires() -> dict[str, Run]:
    n = 80
    return {
        "a second descent below the first": both(fall(n, 2.3, 0.01), fall(n, 2.3, 0.6) + bump(n, 0.4, 0.12, 0.5)),
        "back to the old minimum, noisy": both(
            fall(n * 20, 2.3, 0.01) + noise(n * 20, 0.1),
            0.6 + 1.7 * np.exp(-np.arange(n) / 4) + bump(n, 0.5, 0.15, 0.6) + noise(n, 0.02),
            20,
        ),
        "in the error rate": make.run({
            "train/error": fall(n, 0.9, 0.0),
            "val/error": fall(n, 0.9, 0.2) + bump(n, 0.4, 0.1, 0.15) + noise(n, 0.004),
        }),
        "thousands of rows": both(
            fall(4000, 2.3, 0.01), fall(4000, 2.3, 0.5) + bump(4000, 0.4, 0.1, 0.4) + noise(4000, 0.05)
        ),
    }  # fmt: skip


def stays_quiet() -> dict[str, Run]:
    n = 80
    healthy = fall(n, 2.3, 0.4)
    both_bump = bump(n, 0.5, 0.1, 0.5)
    return {
        "plenty of data, trained": train(Recipe(samples=20000)),
        "overfits and stays there, trained": train(
            Recipe(samples=400, label_noise=0.4, hidden=64, steps=800)
        ),
        "one spike": both(healthy, np.where(np.arange(n) == 40, 2.0, healthy)),
        "training has the hump too": both(healthy + both_bump, healthy + 0.1 + both_bump),
        "noise": both(healthy, healthy + noise(n, 0.1)),
        "no first minimum": both(fall(n, 2.3, 0.01), 2.3 + bump(n, 0.5, 0.2, 1.0)),
        "rises and comes half back": both(
            fall(n, 2.3, 0.01), healthy + np.clip(np.arange(n) - 30, 0, 20) * 0.03
        ),
    }
