"""Samples of scheduler-steps-too-often."""

from __future__ import annotations

import numpy as np

from tests import make
from tests.captured import several, with_facts
from traindx.vocabulary.run import Run
from traindx.vocabulary.setup import Setup


def fires() -> dict[str, Run]:
    return {
        **several("scheduler_per_batch"),
        "a tenth every fifty calls, one a batch": make.run(
            {"lr": 0.1 * 0.1 ** (np.arange(300) // 50), "train/loss": make.healthy_loss(300)},
            setup=Setup(schedule="StepLR", facts={"scheduler_steps": 300, "optimizer_steps": 300}),
        ),
        "halved in every batch": make.run(
            {"lr": 0.1 * 0.5 ** np.arange(300), "train/loss": make.healthy_loss(300)},
            setup=Setup(schedule="StepLR"),
        ),
    }


def stays_quiet() -> dict[str, Run]:
    return {
        "stepped once an epoch": with_facts("healthy", schedule="ExponentialLR"),
        "a tenth every two epochs": make.run(
            {"lr": 0.1 * 0.1 ** (np.arange(300) // 50), "train/loss": make.healthy_loss(300)},
            setup=Setup(schedule="StepLR", facts={"scheduler_steps": 12, "optimizer_steps": 300}),
        ),
        "a schedule over all steps": make.run(
            {"lr": 0.1 * 0.01 ** np.linspace(0, 1.1, 300), "train/loss": make.healthy_loss(300)},
            setup=Setup(schedule="ExponentialLR"),
        ),
    }
