"""Too few validations, or none after a while."""

from __future__ import annotations

import numpy as np

from tests import make
from tests.trainer import Recipe, train
from traindx.vocabulary.run import Run


def fires() -> dict[str, Run]:
    loss = make.healthy_loss(1000)
    return {
        "three validations in 1500 steps, trained": train(Recipe(samples=20000, validate_every=500)),
        "one at the end": make.run({"train/loss": loss, "val/loss": ([999], [0.5])}),
        "none after a third": make.run(
            {"train/loss": loss, "val/loss": (np.arange(0, 330, 20), loss[:330:20])}
        ),
    }


def stays_quiet() -> dict[str, Run]:
    loss = make.healthy_loss(1000)
    return {
        "every 25 steps, trained": train(Recipe(samples=20000)),
        "ten": make.run({"train/loss": loss, "val/loss": (np.arange(50, 1000, 100), loss[50::100])}),
        "a short fine-tuning": make.run({"train/loss": loss[:60], "val/loss": ([19, 39, 59], [0.9, 0.7, 0.6])}),
        "rare, but spread out": make.run({"train/loss": loss, "val/loss": (np.arange(9) * 100, loss[:900:100])}),
        "loss rarely, accuracy often": make.run({
            "train/loss": loss,
            "val/loss": ([999], [0.5]),
            "val/accuracy": (np.arange(0, 1000, 50), 1 - loss[::50] / 3),
        }),
    }  # fmt: skip
