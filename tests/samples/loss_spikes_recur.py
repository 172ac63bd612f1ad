"""Samples for LOS008."""

import numpy as np

from tests.lookalikes import heavy_tailed, log_normal
from tests.make import healthy_loss, rng, run
from traindx.vocabulary.run import Run


def spiky(places: object, height: float = 1.5, n: int = 800) -> np.ndarray:
    loss = healthy_loss(n)
    for at in np.asarray(places, dtype=int):
        loss[at : at + 5] += height * np.array([1.0, 0.8, 0.5, 0.3, 0.1])
    return loss


def fires() -> dict[str, Run]:
    random_places = np.sort(rng(1).choice(np.arange(60, 780, 12), 6, replace=False))
    return {
        "every hundred points": run({"train/loss": spiky(range(90, 800, 100))}),
        "here and there": run({"train/loss": spiky(random_places)}),
    }


def stays_quiet() -> dict[str, Run]:
    return {
        "healthy": run({"train/loss": healthy_loss()}),
        "a single one": run({"train/loss": spiky([400])}),
        "heavy-tailed": run({"train/loss": heavy_tailed()}),
        "log-normal": run({"train/loss": log_normal()}),
        "nothing but a climb": run({"train/loss": np.cumsum(rng(4).exponential(1.7, 50)) + 8}),
    }
