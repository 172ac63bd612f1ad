"""Samples of loss-scale-collapses."""

from __future__ import annotations

import numpy as np

from tests import make
from traindx.vocabulary.run import Run


def fires() -> dict[str, Run]:
    rng = make.rng(1)
    settled = np.r_[2.0 ** np.arange(28, 16, -1), np.full(238, 2.0**16)]
    sinking = np.r_[settled, np.repeat(2.0 ** np.arange(15, -4, -1), 5), np.full(55, 2.0**-4)]
    norm = np.r_[np.exp(0.2 * rng.standard_normal(250)), np.full(150, np.inf)]
    lost = np.r_[make.healthy_loss(250), np.full(150, np.nan)]
    return {
        "with loss and gradients": make.run({"train/loss": lost, "loss_scale": sinking, "grad_norm": norm}),
        "though the loss goes on falling": make.run(
            {"train/loss": make.healthy_loss(), "loss_scale": sinking}
        ),
        "below one in a short log": make.run(
            {
                "train/loss": [9.1, 8.8, 8.6, 8.3, 8.1, 8.0, 7.9, 7.7],
                "loss_scale": [0.25, 0.25, 0.125, 0.016, 0.016, 0.016, 0.016, 0.016],
            }
        ),
    }


def stays_quiet() -> dict[str, Run]:
    settled = np.r_[2.0 ** np.arange(28, 16, -1), np.full(388, 2.0**16)]
    dip = settled.copy()
    dip[200:230] = 2.0**10
    return {
        "the search at the start": make.run({"train/loss": make.healthy_loss(), "loss_scale": settled}),
        "sixty-four times lower for a while": make.run(
            {"train/loss": make.healthy_loss(), "loss_scale": dip}
        ),
        "no scaling": make.run({"train/loss": make.healthy_loss(), "loss_scale": np.ones(400)}),
        "four halvings": make.run(
            {
                "train/loss": make.healthy_loss(),
                "loss_scale": np.r_[np.full(200, 2.0**16), np.full(200, 2.0**12)],
            }
        ),
    }
