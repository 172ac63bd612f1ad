"""Batch sizes that change once; and those that only end an epoch or grow by plan."""

from __future__ import annotations

import numpy as np

from tests import make
from tests.samples.validation_gap_grows import fall, noise
from traindx.vocabulary.run import Run

N = 200
AT = np.arange(N)
LOSS = fall(N, 4.5, 1.5) + noise(N, 0.05)


def with_sizes(sizes: np.ndarray, loss: np.ndarray = LOSS, **more: np.ndarray) -> Run:
    return make.run({"train/loss": loss, "batch_size": sizes, **more})


def fires() -> dict[str, Run]:
    doubled = np.where(AT < 100, 256, 512)
    return {
        "doubled": with_sizes(doubled, lr=np.full(N, 3e-4)),
        "without a rate": with_sizes(doubled),
        "cut to a quarter, and the loss rises": with_sizes(
            np.where(AT < 100, 256, 64), LOSS + 0.8 * (AT >= 100)
        ),
        "two stages": with_sizes(np.where(AT < 60, 32, np.where(AT < 130, 64, 256))),
    }


def stays_quiet() -> dict[str, Run]:
    return {
        "constant": with_sizes(np.full(N, 256)),
        "the rest of each epoch": with_sizes(np.where(AT % 40 == 39, 17, 256)),
        "the rest of the first of two epochs": with_sizes(np.where(AT == 100, 17, 256)),
        "the rest of the only epoch": with_sizes(np.where(AT == N - 1, 17, 256)),
        "a ramp": with_sizes(64 * (1 + AT // 20)),
        "a little larger": with_sizes(np.where(AT < 100, 256, 320)),
    }
