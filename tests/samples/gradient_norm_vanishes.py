"""Samples of gradient-norm-vanishes."""

from __future__ import annotations

import numpy as np

from tests import make
from tests.loops import Loop, trained
from traindx.vocabulary.run import Run


def fires() -> dict[str, Run]:
    rng = make.rng(1)
    noise = np.exp(0.3 * rng.standard_normal(300))
    flat = np.log(10) + 0.01 * rng.standard_normal(300)
    jumped = np.r_[make.healthy_loss(150), np.full(150, 2.3)] * np.exp(0.01 * rng.standard_normal(300))
    return {
        "saturates while the loss is high": make.run(
            {"train/loss": flat, "grad_norm": np.r_[np.full(60, 1.0), np.geomspace(1, 1e-8, 240)] * noise}
        ),
        "tiny from the start": make.run({"train/loss": flat, "grad_norm": 2e-8 * noise}),
        "lost after a jump of the loss": make.run(
            {"train/loss": jumped, "grad_norm": np.r_[np.ones(150), np.full(150, 1e-5)] * noise}
        ),
    }


def stays_quiet() -> dict[str, Run]:
    rng = make.rng(2)
    noise = np.exp(0.3 * rng.standard_normal(300))
    memorized = np.geomspace(2.3, 1e-4, 300) * noise
    decayed = np.r_[52.0, 10.0, 2.0, 0.05 * np.exp(0.2 * rng.standard_normal(297))]
    return {
        "memorized: no loss, no gradient": make.run({"train/loss": memorized, "grad_norm": memorized**1.5}),
        "converged on a floor": make.run(
            {
                "train/loss": 0.2 + np.geomspace(2, 1e-5, 300) * noise,
                "grad_norm": np.geomspace(1, 1e-4, 300) * noise,
            }
        ),
        "large first gradients": make.run({"train/loss": np.full(300, 1.4) * noise, "grad_norm": decayed}),
        "a plateau with gradients": make.run({"train/loss": 2.3 + 0.01 * noise, "grad_norm": 0.2 * noise}),
        "ten sigmoid layers: the last still has its gradient": trained(
            Loop(activation="sigmoid", depth=10, gain=1.0, steps=300)
        ),
    }
