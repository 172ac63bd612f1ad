"""Samples for LOS007."""

import numpy as np

from tests.lookalikes import heavy_tailed, log_normal, negative
from tests.make import healthy_loss, rng, run
from traindx.vocabulary.run import Run


def with_spike(at: int, height: float, width: int = 6, n: int = 400) -> np.ndarray:
    loss = healthy_loss(n)
    loss[at : at + width] += height * np.exp(-np.arange(width) / 2)
    return loss


def fires() -> dict[str, Run]:
    overshoot = healthy_loss(300, start=7.0, floor=2.0)
    overshoot[2:8] = [16.9, 15.1, 12.0, 10.0, 8.0, 7.0]
    two = with_spike(150, 1.5)
    two[300:304] += [2.0, 1.2, 0.6, 0.3]
    norm = 1.5 * np.exp(0.2 * rng(1).standard_normal(400))
    norm[200:202] *= 40
    return {
        "one": run({"train/loss": with_spike(200, 2.0)}),
        "one, with the norm": run({"train/loss": with_spike(200, 2.0), "grad_norm": norm}),
        "overshoot in the first steps": run({"train/loss": overshoot}),
        "two": run({"train/loss": two}),
    }


def stays_quiet() -> dict[str, Run]:
    return {
        "healthy": run({"train/loss": healthy_loss()}),
        "heavy-tailed": run({"train/loss": heavy_tailed()}),
        "log-normal": run({"train/loss": log_normal()}),
        "negative": run({"train/loss": negative()}),
        "a bump within the noise": run({"train/loss": with_spike(200, 0.05)}),
    }
