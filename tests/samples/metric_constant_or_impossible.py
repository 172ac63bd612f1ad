"""Samples for GEN009."""

import numpy as np

from tests.make import healthy_loss, rng, run
from traindx.vocabulary.run import Run

LOSS = healthy_loss(60)


def fires() -> dict[str, Run]:
    dead = np.where(np.arange(60) < 20, 0.9, 0.0)
    return {
        "one accuracy": run({"train/loss": LOSS, "val/accuracy": np.full(60, 0.9983)}),
        "no box found": run({"train/loss": LOSS, "val/mAP_0.5": np.zeros(60), "epoch": np.arange(60)}),
        "every word wrong": run({"train/loss": LOSS, "val/wer": np.full(60, 100.0)}),
        "more than all": run({"train/loss": LOSS, "val/accuracy": np.linspace(40.0, 104.0, 60)}),
        "less than nothing": run({"train/loss": LOSS, "val/auc": np.linspace(0.5, -0.2, 60)}),
        "perplexity below one": run({"train/loss": LOSS, "val/perplexity": np.linspace(9.0, 0.4, 60)}),
        "a cross-entropy below zero": run(
            {"train/loss": 0.6 - np.arange(60.0), "train/accuracy": np.full(60, 0.1)}
        ),
        "no part of a loss is computed": run(
            {
                "train/loss_move": np.zeros(7),
                "train/loss_value": np.zeros(7),
                "train/success_rate": np.ones(7),
            }
        ),
        "one class for every sample": run(
            {"train/loss": LOSS, "val/accuracy": np.full(60, 0.9), "val/auc": np.linspace(0.5, 0.8, 60)}
        ),
        "a validation loss of zero": run({"train/loss": LOSS, "val/loss": np.zeros(60)}),
        "an absurd loss": run({"train/loss": np.full(60, 5e26)}),
        "a loss that comes back to absurd values": run(
            {"train/loss": np.concatenate([np.full(5, 5e26), LOSS[:40], np.full(5, 5e26)])}
        ),
        "a player that died": run(
            {"train/g_loss": dead, "train/d_loss": np.where(np.arange(60) < 20, 0.03, 0.5)}
        ),
    }


def stays_quiet() -> dict[str, Run]:
    solved = np.minimum(1.0, np.linspace(0.5, 1.5, 60))
    return {
        "healthy": run({"train/loss": LOSS, "val/accuracy": 1 - 0.3 * LOSS}),
        "perfect": run({"train/loss": LOSS, "val/accuracy": np.ones(60)}),
        "perfect in percent": run({"train/loss": LOSS, "val/accuracy": 100 * solved}),
        "nothing found yet": run(
            {"train/loss": LOSS, "val/mAP_0.5": np.zeros(60), "epoch": np.arange(60) / 30}
        ),
        "a setting of the detector": run(
            {"train/loss": LOSS, "val/iou": np.full(60, 0.7), "val/map50": 1 - 0.3 * LOSS}
        ),
        "a share of few samples": run(
            {"train/loss": LOSS[:5], "val/recall": np.full(5, 0.648), "val/precision": 1 - 0.3 * LOSS[:5]}
        ),
        "a function that is minimized from far away": run({"train/loss": np.geomspace(1e26, 1e-6, 60)}),
        "a running best": run({"train/loss": LOSS, "val/best_accuracy": np.full(60, 0.91)}),
        "constant at the end": run(
            {"train/loss": LOSS, "val/accuracy": np.minimum(0.97, np.linspace(0.5, 1.5, 60))}
        ),
        "memorized to the last digit": run({"train/loss": np.maximum(LOSS - 0.45, 0.0)}),
        "a likelihood of densities": run({"train/loss": 2 - 0.1 * np.arange(60.0)}),
        "one part without a weight": run(
            {"train/loss_box": LOSS, "train/loss_aux": np.zeros(60), "val/accuracy": 1 - 0.3 * LOSS}
        ),
        "a cosine": run({"train/loss": LOSS - 1.9, "val/accuracy": 1 - 0.3 * LOSS}),
        "large targets": run({"train/loss": 1e13 * LOSS}),
        "word errors beyond one": run({"val/wer": 104.0 - np.arange(60) + rng(1).standard_normal(60)}),
    }
