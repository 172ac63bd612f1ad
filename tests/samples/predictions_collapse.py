"""Samples of predictions-collapse."""

from __future__ import annotations

import numpy as np

from tests import make
from traindx.vocabulary.run import Run
from traindx.vocabulary.setup import Setup


def answered(loss: np.ndarray, name: str, shares: np.ndarray, **facts: float) -> Run:
    """A classifier of ten classes with these shares of its most frequent answer."""
    known = {"class_majority_share": 0.12, "batch_single_class_share": 0.0, **facts}
    return make.run(
        {"train/loss": loss, name: shares}, setup=Setup(classes=10, loss="cross_entropy", facts=known)
    )


def fires() -> dict[str, Run]:
    flat = 2.303 + 0.01 * make.rng(1).standard_normal(200)
    return {
        "one class in evaluation": answered(flat, "val_outputs_majority_share", np.ones(200)),
        "one class in training": answered(flat, "outputs_majority_share", np.ones(200)),
        "from the middle on": answered(
            flat, "val_outputs_majority_share", np.repeat([0.3, 0.99], [80, 120])
        ),
        "two classes, nine to one": answered(
            flat, "val_outputs_majority_share", np.ones(200), class_majority_share=0.85
        ),
    }


def stays_quiet() -> dict[str, Run]:
    healthy = make.healthy_loss(200)
    return {
        "as the labels are": answered(healthy, "val_outputs_majority_share", np.full(200, 0.13)),
        "one class at first": answered(
            healthy, "val_outputs_majority_share", np.repeat([1.0, 0.2], [60, 140])
        ),
        "nearly all labels are of one class": answered(
            healthy, "val_outputs_majority_share", np.full(200, 0.99), class_majority_share=0.97
        ),
        "small batches": answered(healthy, "outputs_majority_share", np.tile([0.4, 0.6], 100)),
    }
