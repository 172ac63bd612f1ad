"""Samples for LOS014."""

import numpy as np

from tests.make import healthy_loss, rng, run
from traindx.vocabulary.run import Run
from traindx.vocabulary.setup import Setup

EPOCHS = np.arange(400) / 40


def fires() -> dict[str, Run]:
    phase = EPOCHS % 1
    return {
        "saw-tooth": run({"train/loss": healthy_loss(400) + 0.8 * phase, "epoch": EPOCHS}),
        "falling": run({"train/loss": healthy_loss(400) - 0.8 * phase + 1, "epoch": EPOCHS}),
        "sorted by class": run(
            {"train/loss": healthy_loss(400) + 0.5 * np.floor(phase * 4) % 2, "epoch": EPOCHS}
        ),
        "steps per epoch known": run(
            {"train/loss": healthy_loss(400) + 0.8 * phase}, setup=Setup(facts={"steps_per_epoch": 40})
        ),
    }


def stays_quiet() -> dict[str, Run]:
    stairs = 2.3 * 0.7 ** np.floor(EPOCHS) + 0.03 * rng(1).standard_normal(400)
    return {
        "mixed batches in a fixed order": run(
            {
                "train/loss": healthy_loss(400) + 0.2 * np.tile(rng(4).standard_normal(40), 10),
                "epoch": EPOCHS,
            }
        ),
        "healthy": run({"train/loss": healthy_loss(400), "epoch": EPOCHS}),
        "steps down at each epoch": run({"train/loss": stairs, "epoch": EPOCHS}),
        "another period": run(
            {"train/loss": healthy_loss(400) + 0.3 * np.sin(np.arange(400) / 5), "epoch": EPOCHS}
        ),
    }


EXCEPTIONS = {
    "relabelled: steps per epoch known": "the fact counts steps, which relabelling makes ten times as many"
}
