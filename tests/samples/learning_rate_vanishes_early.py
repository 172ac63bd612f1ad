"""Rates that are gone before the loss has levelled off; and schedules that end as they should."""

from __future__ import annotations

import msgspec
import numpy as np

from tests import make
from tests.causes.verdict.test_decision import PANEL
from tests.samples.learning_rate_jumps import half_cosine
from tests.samples.validation_gap_grows import fall, noise
from tests.trainer import Recipe, cosine, decays_every_batch, train
from traindx.vocabulary.run import Run


def frozen(n: int, at: int, size: float = 0.02) -> np.ndarray:
    """A loss that stops falling at point `at`."""
    return fall(n, 2.3, 0.3, 10.0)[np.minimum(np.arange(n), at)] + noise(n, size)


def fires() -> dict[str, Run]:
    n = 400
    return {
        "decays every batch, trained": train(
            Recipe(samples=20000, schedule=decays_every_batch, lr=0.0005, batch=256, steps=2000)
        ),
        "cosine planned for half the steps": make.run(
            {"lr": np.append(half_cosine(n // 2), np.full(n // 2, 1e-9)), "train/loss": frozen(n, n // 2)}
        ),
        "0.9 to the power of the step": make.run({"lr": 0.1 * 0.9 ** np.arange(n), "train/loss": frozen(n, 50)}),
        "0.95 to the power of the step, over all of a short recording": msgspec.structs.replace(
            make.run({"lr": 0.1 * 0.95 ** np.arange(200), "train/loss": frozen(200, 60)}), panels={"grad_norm": PANEL},
        ),
        "all groups": make.run({
            "lr/0": 1e-3 * 0.95 ** np.arange(n), "lr/1": 1e-4 * 0.95 ** np.arange(n), "train/loss": frozen(n, 120),
        }),
    }  # fmt: skip


def stays_quiet() -> dict[str, Run]:
    n = 400
    t = np.arange(n)
    healthy = fall(n, 2.3, 0.3) + noise(n, 0.02)
    done = 0.3 + 2 * np.exp(-np.arange(n) / 10) + noise(n, 0.02)
    return {
        "constant": make.run({"lr": np.full(n, 1e-3), "train/loss": healthy}),
        "cosine, trained": train(Recipe(samples=20000, schedule=cosine)),
        "linear to zero": make.run({"lr": 1e-3 * (1 - np.arange(n) / n), "train/loss": healthy}),
        "warm-up and cosine to zero": make.run({
            "lr": np.minimum(np.arange(n) / 20, 1.0) * half_cosine(n), "train/loss": healthy,
        }),
        "steps of ten": make.run({"lr": 0.1 * 0.1 ** np.digitize(t, [200, 300, 360]), "train/loss": healthy}),
        "lowered since the loss is level": make.run({
            "lr": 0.1 * 0.1 ** np.digitize(np.arange(n), [150, 200, 250, 300]), "train/loss": done,
        }),
        "one group frozen": make.run({
            "lr/head": np.full(n, 1e-3), "lr/trunk": 1e-3 * 0.9 ** np.arange(n), "train/loss": healthy,
        }),
        "0.95 to the power of the epoch, over the whole run": make.run({
            "lr": 0.1 * 0.95 ** np.arange(200), "train/loss": frozen(200, 60),
        }),
        "twenty steps down five decades, over the whole run": make.run({
            "lr": 1e-3 * 10.0 ** (-0.25 * (t // 20)), "train/loss": frozen(n, n // 2),
        }),
        "exponential annealing to a thousandth": make.run({
            "lr": 0.035 * 0.001 ** (t / n), "train/loss": fall(n, 6.9, 2.0, 5.0) + noise(n, 0.05),
        }),
        "warm restarts": make.run({"lr": np.tile(half_cosine(100), 4), "train/loss": healthy}),
        "still learning all the same": make.run({
            "lr": np.where(t < 100, 1e-3, 1e-6), "train/loss": 2.3 - t / n + noise(n, 0.02),
        }),
    }  # fmt: skip
