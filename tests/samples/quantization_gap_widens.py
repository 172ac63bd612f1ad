"""Samples of quantization-gap-widens."""

from __future__ import annotations

import numpy as np

from tests import make
from traindx.vocabulary.run import Run

N = 60


def fires() -> dict[str, Run]:
    loss = make.healthy_loss(N)
    noise = 0.01 * make.rng(1).standard_normal(N)
    late = np.maximum(0, np.arange(N) - 20) / N
    accuracy = 0.9 - 0.6 * np.exp(-np.arange(N) / 10)
    return {
        "the gap itself, logged": make.run(
            {"train/loss": loss, "quant/loss_gap": 0.05 + 0.8 * late + noise}
        ),
        "two losses": make.run({"val/loss": loss, "val/quantized_loss": loss + 0.1 + late + noise}),
        "two accuracies": make.run(
            {"val/accuracy": accuracy, "val/int8_accuracy": accuracy - 0.02 - 0.4 * late}
        ),
        "the gap alone": make.run({"quant/loss_gap": 0.02 + 0.3 * late + noise / 10}),
    }


def stays_quiet() -> dict[str, Run]:
    loss = make.healthy_loss(N)
    noise = 0.01 * make.rng(2).standard_normal(N)
    t = np.arange(N) / N
    return {
        "a constant gap": make.run({"val/loss": loss, "val/quantized_loss": loss + 0.3 + noise}),
        "a gap that closes": make.run({"train/loss": loss, "quant/loss_gap": 0.8 * np.exp(-4 * t) + noise}),
        "noise alone": make.run({"train/loss": loss, "quant/loss_gap": 0.02 + 10 * noise}),
        "grows by little": make.run({"train/loss": loss, "quant/loss_gap": 0.01 + 0.03 * t + noise / 10}),
        "a bump that is taken back": make.run(
            {"train/loss": loss, "quant/loss_gap": 0.05 + np.exp(-(((t - 0.5) / 0.1) ** 2)) + noise / 10}
        ),
    }
