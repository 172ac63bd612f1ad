"""Samples for preferences-turn-around: levels as the DPO trainer of TRL logs them."""

import numpy as np

from tests.make import rng, run
from traindx.vocabulary.run import Run

T = np.arange(30.0)
NOISE = 0.03 * rng(5).standard_normal(30)


def tuned(direction: float, held: float | None = None) -> Run:
    margins = 0.05 * direction * T
    signals = {
        "train/loss": np.log1p(np.exp(-margins)), "train/rewards_margins": margins,
        "train/rewards_accuracies": np.clip(0.5 + 0.5 * np.tanh(4 * margins) + NOISE, 0, 1),
    }  # fmt: skip
    if held is not None:
        signals |= {
            "val/rewards_margins": 0.05 * held * T,
            "val/rewards_accuracies": 0.5 + 0.5 * np.tanh(held * T),
        }
    return run(signals)


def fires() -> dict[str, Run]:
    return {"a sign in the loss": tuned(-1.0), "only the training pairs are swapped": tuned(1.0, held=-1.0)}


def stays_quiet() -> dict[str, Run]:
    return {
        "learns": tuned(1.0, held=1.0),
        "learns nothing": tuned(0.0),
        "validation is a coin": tuned(1.0, held=0.0),
        "slightly below a half": tuned(-0.03),
    }
