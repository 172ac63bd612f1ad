"""Samples for divergence-left-out: levels of VAEs on digits, and of those in front of diffusion models."""

import numpy as np

from tests.make import rng, run
from traindx.vocabulary.run import Run

T = np.arange(60.0)
RECONSTRUCTION = 16 + 30 * np.exp(-T / 10) + 0.2 * rng(4).standard_normal(60)
GROWS = 100 * (1 - np.exp(-T / 20))


def autoencoder(kl: np.ndarray, weight: float, name: str = "train/kl_loss") -> Run:
    return run({"train/recon_loss": RECONSTRUCTION, name: kl, "train/loss": RECONSTRUCTION + weight * kl})


def fires() -> dict[str, Run]:
    return {"weight of zero": autoencoder(GROWS, 0.0), "by another name": autoencoder(GROWS, 0.0, "kld")}


def stays_quiet() -> dict[str, Run]:
    return {
        "informative": autoencoder(25 * (1 - np.exp(-T / 8)), 1.0),
        "a tiny weight, as in latent diffusion": autoencoder(1e3 * GROWS, 1e-6 * 100),
        "left out, and small": autoencoder(0.02 * GROWS, 0.0),
        "left out, and falling": autoencoder(100 - GROWS, 0.0),
    }
