"""Samples of loss-stands-at-saddle."""

from __future__ import annotations

import numpy as np

from tests import make
from traindx.vocabulary.run import Run
from traindx.vocabulary.setup import Setup


def curved(low: float, high: float, level: float = 2.303) -> Run:
    """A run that stays at the loss of a guess over ten classes, with these extremes of its curvature."""
    spread = np.exp(0.2 * make.rng(2).standard_normal((2, 200)))
    loss = level + 0.005 * make.rng(1).standard_normal(200)
    signals = {"train/loss": loss, "curvature/min": low * spread[0], "curvature/max": high * spread[1]}
    return make.run(signals, setup=Setup(classes=10, loss="cross_entropy"))


def fires() -> dict[str, Run]:
    return {"a deep net that does not move": curved(-0.17, 0.18), "less down than up": curved(-0.1, 0.3)}


def stays_quiet() -> dict[str, Run]:
    return {
        "a minimum": curved(1e-6, 0.12),
        "as good as one": curved(-0.002, 0.12),
        "a little": curved(-0.02, 0.3),
    }
