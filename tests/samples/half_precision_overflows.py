"""Samples of half-precision-overflows."""

from __future__ import annotations

import numpy as np

from tests import make
from traindx.vocabulary.run import Run


def dynamic(n: int, *, settled: float = 2.0**16, every: int = 60) -> np.ndarray:
    """A healthy dynamic scale: twelve halvings at the start, then occasional tries at twice the scale."""
    scale = np.full(n, settled)
    scale[:12] = settled * 2.0 ** np.arange(12, 0, -1)
    scale[every::every] = 2 * settled
    return scale


def fires() -> dict[str, Run]:
    rng = make.rng(1)
    falling = dynamic(400)
    falling[300:] = np.repeat(2.0 ** np.arange(15, 5, -1), 10)
    worse = np.r_[make.healthy_loss(300), 0.6 + 0.01 * np.arange(100)]
    norms = np.exp(0.2 * rng.standard_normal(400))
    return {
        "ten halvings late, the loss rises": make.run(
            {"train/loss": worse, "loss_scale": falling, "grad_norm": norms}
        ),
        "ten halvings late, the loss does not mind": make.run(
            {"train/loss": make.healthy_loss(), "loss_scale": falling}
        ),
        "falls in every row of a short log": make.run({"loss_scale": 2.0 ** np.arange(19, 11, -1)}),
    }


def stays_quiet() -> dict[str, Run]:
    return {
        "the search at the start and single tries": make.run(
            {"train/loss": make.healthy_loss(), "loss_scale": dynamic(400)}
        ),
        "cut off within the search": make.run({"loss_scale": 2.0 ** np.arange(32, 18, -1)}),
        "a fixed scale": make.run({"train/loss": make.healthy_loss(), "loss_scale": np.full(400, 128.0)}),
        "a growing scale": make.run({"loss_scale": np.repeat(2.0 ** np.arange(10, 20), 20)}),
    }
