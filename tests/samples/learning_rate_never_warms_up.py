"""Full rate from the start with a jump of the loss; and starts that do not matter."""

from __future__ import annotations

import numpy as np

from tests import make
from tests.samples.validation_gap_grows import fall, noise
from tests.trainer import Recipe, cosine, train
from traindx.vocabulary.run import Run


def jumps(n: int, height: float, width: float = 4.0, size: float = 0.03) -> np.ndarray:
    """A loss that overshoots in the first steps and comes down again."""
    t = np.arange(n)
    return fall(n, 6.9, 2.0) + height * (t / width) * np.exp(1 - t / width) + noise(n, size)


def with_rate(loss: np.ndarray, rate: np.ndarray | None = None) -> Run:
    return make.run({"lr": np.full(len(loss), 1e-3) if rate is None else rate, "train/loss": loss})


def fires() -> dict[str, Run]:
    """The figure of the docs is the first: not the trained one, whose chaos is another on another processor."""
    n = 400
    stuck = np.where(np.arange(n) < 4, 6.9, 9.0) + noise(n, 0.05)
    return {
        "overshoots in the first steps": with_rate(jumps(n, 9.0)),
        "Adam at 3, trained": train(Recipe(samples=20000, lr=3.0, adam=True)),
        "overshoots and decays": with_rate(jumps(n, 6.0), 1e-3 * 0.995 ** np.arange(n)),
        "jumps and stays": with_rate(stuck),
    }


def stays_quiet() -> dict[str, Run]:
    n = 400
    warm = np.minimum(np.arange(1, n + 1) / 40, 1.0) * 1e-3
    return {
        "no jump, trained": train(Recipe(samples=20000, schedule=cosine)),
        "no jump": with_rate(fall(n, 6.9, 2.0) + noise(n, 0.03)),
        "jumps in spite of warm-up": with_rate(jumps(n, 9.0), warm),
        "noise of the first batches": with_rate(fall(n, 6.9, 2.0) + noise(n, 0.4)),
        "a small bump": with_rate(jumps(n, 1.0)),
        "jumps later": with_rate(fall(n, 6.9, 2.0) + 5 * (np.abs(np.arange(n) - 200) < 4)),
        "log begins in the middle": make.run({
            "lr": (np.arange(n) + 30000, np.full(n, 1e-3)), "train/loss": (np.arange(n) + 30000, jumps(n, 9.0)),
        }),
        "fine-tuning, level and noisy": with_rate(1.3 + noise(n, 0.2)),
    }  # fmt: skip
