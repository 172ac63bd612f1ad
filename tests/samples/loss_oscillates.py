"""Samples for LOS006."""

import numpy as np

from tests.lookalikes import heavy_tailed, log_normal
from tests.make import healthy_loss, rng, run
from traindx.vocabulary.run import Run
from traindx.vocabulary.setup import Setup

ORDER = rng(15).standard_normal(16)  # of sixteen batches: their strongest beat has a period of 2.7


def fires() -> dict[str, Run]:
    noise = rng(1)
    t = np.arange(200)
    zigzag = 1.6 + 0.4 * (-1.0) ** t + 0.08 * noise.standard_normal(200)
    swings = 1.9 + 0.5 * np.sin(t / 5) + 0.05 * noise.standard_normal(200)
    return {
        "alternating": run({"train/loss": zigzag}),
        "erratic evaluations": erratic(),
        "slow swings": run({"train/loss": np.concatenate([np.linspace(2.6, 1.9, 20), swings])}),
        "a period that is no epoch": in_order(batches_distinct=100),
        "on a slight descent": run(
            {"train/loss": 2.0 - 0.001 * t + 0.4 * np.sin(t / 4) + 0.05 * noise.standard_normal(200)}
        ),
    }


def erratic() -> Run:
    t = np.arange(300) / 300
    return run({"val/reward": 400 * t**0.5 + 170 * rng(5).standard_normal(300)})


def stays_quiet() -> dict[str, Run]:
    noise = rng(2)
    t = np.arange(400)
    return {
        "healthy": run({"train/loss": healthy_loss()}),
        "noise alone": run({"train/loss": 1.5 + 0.3 * noise.standard_normal(400)}),
        "heavy-tailed": run({"train/loss": heavy_tailed()}),
        "log-normal": run({"train/loss": log_normal()}),
        "means since the epoch's start": means_of_epochs(),
        "the same order again": run(
            {"train/loss": 0.4 + 0.1 * np.tile(ORDER, 8) + 0.01 * noise.standard_normal(128)}
        ),
        "sixty batches in the same order": in_order(batches_distinct=60),
        "an epoch of sixty steps": in_order(steps_per_epoch=60),
        "a ripple on a real descent": run({"train/loss": healthy_loss(400) + 0.01 * np.sin(t / 5)}),
    }


def in_order(**facts: int) -> Run:
    """Windows of a series, one after another: where it swings, so does the loss."""
    t = np.arange(1200)
    loss = 0.4 + 0.1 * np.sin(2 * np.pi * t / 60) + 0.05 * rng(4).standard_normal(1200)
    return run({"train/loss": loss}, setup=Setup().with_facts(facts, "capture"))


def means_of_epochs() -> Run:
    """A loss that falls within each epoch and is averaged since the epoch's start: a saw-tooth."""
    epoch, at = np.divmod(np.arange(1200), 100)
    loss = 4.6 - 0.02 * epoch - 0.04 * (1 - at / 100) + 0.0005 * rng(6).standard_normal(1200)
    return run({"train/loss": loss, "epoch": epoch})


EXCEPTIONS = {
    "halved: alternating": "every second point of a zigzag is a constant: the swing is not in the log any more",
}
