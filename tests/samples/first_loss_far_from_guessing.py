"""Samples of first-loss-far-from-guessing."""

from __future__ import annotations

from tests import make
from tests.captured import several
from traindx.vocabulary.run import Run
from traindx.vocabulary.setup import Setup

CLASSES = Setup(loss="cross_entropy", classes=10)


def values(**more: float | str) -> Setup:
    return Setup(loss="mse_loss", facts={"targets_std_mean": 1.0, "targets_mean_abs": 0.1, **more})


def fires() -> dict[str, Run]:
    wild = make.healthy_loss(300, start=40.0, floor=2.2)
    return {
        "weights from a wide distribution": make.run({"train/loss": wild}, setup=CLASSES),
        "three times what sixty positions give": make.run(
            {"train/loss": 4 * 60 * wild / 40, "outputs_cross_entropy": wild}, setup=CLASSES
        ),
        "outputs far off the targets": make.run({"train/loss": wild}, setup=values()),
        "a binary one": make.run({"train/loss": wild}, setup=Setup(loss="binary_cross_entropy_with_logits")),
    }


def stays_quiet() -> dict[str, Run]:
    return {
        **several("healthy", "healthy_dropout", "healthy_norm"),
        "the sum over sixty positions": make.run(
            {"train/loss": 60 * make.healthy_loss(300), "outputs_cross_entropy": make.healthy_loss(300)},
            setup=CLASSES,
        ),
        "targets that only an intervention scales": make.run(
            {"train/loss": make.healthy_loss(300, start=40.0, floor=2.2)},
            setup=values(interventions="seed=0, targets=standardize"),
        ),
        "ln k": make.run({"train/loss": make.healthy_loss(300)}, setup=CLASSES),
        "large targets": make.run(
            {"train/loss": make.healthy_loss(300, start=2e4, floor=900.0)},
            setup=values(targets_std_mean=140.0),
        ),
    }


EXCEPTIONS = {"rescaled": "ln k does not scale with the loss"}
