"""Rates of zero that stop the learning; and zeros that are normal or only printed so."""

from __future__ import annotations

import numpy as np

from tests import make
from tests.samples.learning_rate_jumps import half_cosine
from tests.samples.validation_gap_grows import fall, noise
from tests.trainer import Recipe, cosine, train
from traindx.vocabulary.run import Run


def with_rate(rate: np.ndarray, loss: np.ndarray | None = None) -> Run:
    return make.run({"lr": rate, "train/loss": make.healthy_loss(len(rate)) if loss is None else loss})


def nothing(progress: float) -> float:
    return 0.0


def fires() -> dict[str, Run]:
    n = 200
    t = np.arange(n)
    steady = np.full(n, 1e-3)
    hole = np.where((t > 80) & (t < 120), 0.0, steady)
    return {
        "always, trained": train(Recipe(samples=20000, schedule=nothing)),
        "all groups": make.run({"lr/0": 0 * steady, "lr/1": 0 * steady, "train/loss": 1.4 + noise(n, 0.2)}),
        "the first fifth": with_rate(
            np.where(t < 40, 0.0, 0.07), np.append(np.full(40, 2.3), fall(160, 2.3, 0.3))
        ),
        "a hole in the middle": with_rate(
            0.77 * hole, fall(n, 2.3, 0.3)[np.where(t < 80, t, np.maximum(t - 40, 80))]
        ),
        "the last third": with_rate(np.append(half_cosine(140), np.zeros(60))),
        "without a loss": make.run({"lr": np.append(half_cosine(140), np.zeros(60))}),
    }


def stays_quiet() -> dict[str, Run]:
    n = 200
    t = np.arange(n)
    healthy = fall(n, 2.3, 0.3, 5.0) + noise(n, 0.02)
    linear = 1e-3 * (1 - t / n)
    return {
        "cosine, trained": train(Recipe(samples=20000, schedule=cosine)),
        "warm-up from zero, linear to zero": with_rate(np.minimum(t / 20, 1.0) * linear * (t < n - 1)),
        "skipped first steps": with_rate(np.where(t < 3, 0.0, linear)),
        "printed as 0.0000": with_rate(np.zeros(n), healthy),
        "printed with four digits": with_rate(np.round(5e-4 * (1 - t / n), 4), healthy),
        "one group frozen on purpose": make.run(
            {"lr/head": linear, "lr/trunk": 0 * linear, "train/loss": healthy}
        ),
        "tiny, not zero": with_rate(np.full(n, 1e-9)),
        "never zero": with_rate(linear),
        "zero by the log, but learning": with_rate(
            np.where(t < 100, linear, 0.0), 2.3 - t / n + noise(n, 0.02)
        ),
    }
