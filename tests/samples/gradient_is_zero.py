"""Samples of gradient-is-zero."""

from __future__ import annotations

import numpy as np

from tests import make
from tests.loops import Loop, trained
from traindx.vocabulary.run import Run


def fires() -> dict[str, Run]:
    noise = np.exp(0.2 * make.rng(1).standard_normal(400))
    stuck = np.r_[make.healthy_loss(250), np.full(150, np.log(10))]
    dead, masked = noise.copy(), noise.copy()
    dead[250:] = 0.0
    masked[100:140] = 0.0
    return {
        "to the end": make.run({"train/loss": stuck, "grad_norm": dead}),
        "for a while": make.run({"train/loss": make.healthy_loss(), "grad_norm": masked}),
        "always, and the loss does not move": make.run(
            {"train/loss": np.full(50, 2.302585), "grad_norm": np.zeros(50)}
        ),
    }


def stays_quiet() -> dict[str, Run]:
    rng = make.rng(2)
    noise = np.exp(0.2 * rng.standard_normal(400))
    fitted = np.geomspace(2.3, 1e-9, 400) * noise
    printed = np.round(np.geomspace(1.0, 1e-5, 400) * noise, 3)
    alone = noise.copy()
    alone[[50, 51, 200, 301]] = 0.0
    return {
        "single empty batches": make.run({"train/loss": make.healthy_loss(), "grad_norm": alone}),
        "a loss of zero has no gradient": make.run(
            {"train/loss": np.r_[fitted, np.zeros(100)], "grad_norm": np.r_[fitted, np.zeros(100)]}
        ),
        "three decimals are too few": make.run({"train/loss": make.healthy_loss(), "grad_norm": printed}),
        "a healthy net, really trained": trained(Loop()),
    }
