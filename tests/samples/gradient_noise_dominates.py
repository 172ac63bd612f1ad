"""Samples of gradient-noise-dominates."""

from __future__ import annotations

import numpy as np

from tests import make
from traindx.vocabulary.run import Run
from traindx.vocabulary.setup import Setup


def fires() -> dict[str, Run]:
    return {
        "nothing but noise, and nothing learned": noisy(
            2.3 + 0.05 * make.rng(4).standard_normal(200), 5000.0
        ),
        "just above the limit": noisy(2.3 + 0.05 * make.rng(4).standard_normal(200), 400.0),
    }


def stays_quiet() -> dict[str, Run]:
    return {
        "noise is all that is left at the end of a good run": noisy(make.healthy_loss(200), 5000.0),
        "flat, but each batch says enough": noisy(2.3 + 0.05 * make.rng(4).standard_normal(200), 100.0),
    }


def noisy(loss: np.ndarray, scale: float) -> Run:
    """A run whose gradient noise scale wanders around `scale` samples, with batches of 32."""
    noise = np.exp(0.3 * make.rng(3).standard_normal(len(loss)))
    return make.run({"train/loss": loss, "grad_noise_scale": scale * noise}, setup=Setup(batch_size=32.0))
