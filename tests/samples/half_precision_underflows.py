"""Samples of half-precision-underflows."""

from __future__ import annotations

import numpy as np

from tests import make
from traindx.vocabulary.run import Run


def fires() -> dict[str, Run]:
    rng = make.rng(1)
    scale = np.r_[np.repeat(2.0 ** np.arange(16, 24), 25), np.full(200, 2.0**24)]
    norm = np.exp(0.2 * rng.standard_normal(400))
    lost = norm.copy()
    lost[220:] *= rng.random(180) < 0.5
    return {
        "half of the norms are zero at the highest scale": make.run(
            {"train/loss": make.healthy_loss(floor=1.5), "loss_scale": scale, "grad_norm": lost}
        ),
        "all of them in the end": make.run(
            {
                "train/loss": np.full(400, 2.3),
                "loss_scale": scale,
                "grad_norm": np.r_[norm[:200], np.zeros(200)],
            }
        ),
    }


def stays_quiet() -> dict[str, Run]:
    rng = make.rng(2)
    scale = np.r_[np.repeat(2.0 ** np.arange(16, 24), 25), np.full(200, 2.0**24)]
    norm = np.exp(0.2 * rng.standard_normal(400))
    rare = norm * (rng.random(400) > 0.03)
    fitted = np.geomspace(2.3, 1e-9, 400)
    return {
        "a high scale": make.run(
            {"train/loss": make.healthy_loss(), "loss_scale": scale, "grad_norm": norm}
        ),
        "single empty batches": make.run(
            {"train/loss": make.healthy_loss(), "loss_scale": scale, "grad_norm": rare}
        ),
        "nothing left to learn": make.run(
            {"train/loss": fitted, "loss_scale": scale, "grad_norm": np.where(fitted > 1e-5, fitted, 0.0)}
        ),
    }
