"""Samples for posterior-collapses: levels of VAEs on digits and on sentences."""

import numpy as np

from tests.make import rng, run
from traindx.vocabulary.run import Run

T = np.arange(60.0)
RECONSTRUCTION = 100 + 80 * np.exp(-T / 10) + rng(4).standard_normal(60)
GONE = 6 * np.exp(-T / 3) + 1e-3


def autoencoder(kl: np.ndarray, name: str = "train/kl_loss", **more: np.ndarray) -> Run:
    signals = {"train/recon_loss": RECONSTRUCTION, name: kl, "train/loss": RECONSTRUCTION + kl}
    return run(signals | {f"train/{key}": value for key, value in more.items()})


def fires() -> dict[str, Run]:
    return {
        "lost in the first steps": autoencoder(GONE),
        "by another name": autoencoder(GONE, "train/kld"),
        "from the start": autoencoder(0.09 * np.exp(-T / 2) + 1e-3),
        "single batches come back": autoencoder(np.where(T % 9 == 8, 6.0, 0) + GONE),
        "late": autoencoder(np.where(T < 25, 5.0, 1e-4)),
        "its weight is one": run(
            {"KL-Weight": np.ones(60), "train/kl_loss": GONE, "train/recon_loss": RECONSTRUCTION}
        ),
        "weights of the network are logged": autoencoder(
            GONE, weight_norm=20 + T, weight_decay=0 * T + 0.01
        ),
    }


def stays_quiet() -> dict[str, Run]:
    return {
        "informative": autoencoder(25 * (1 - np.exp(-T / 8))),
        "still rising": autoencoder(1e-4 * (1 + T)),
        "falls to a useful level": autoencoder(4 + 30 * np.exp(-T / 5)),
        "its weight is raised": autoencoder(GONE, kl_weight=np.minimum(T / 100, 1.0)),
        "small as all losses are": run(
            {"train/kl_loss": GONE / 100, "train/recon_loss": RECONSTRUCTION / 1e5}
        ),
    }
