"""Samples of gradient-norm-spikes."""

from __future__ import annotations

import numpy as np

from tests import make
from tests.loops import Loop, trained
from traindx.vocabulary.run import Run

EXCEPTIONS = {"halved: a few rows around one spike": "half of eleven rows leave too little of the level"}


def fires() -> dict[str, Run]:
    rng = make.rng(1)
    norm = 0.3 * np.exp(0.15 * rng.standard_normal(600))
    loss = make.healthy_loss(600)
    once, bumped = norm.copy(), loss.copy()
    once[400:407] = [0.9, 3.0, 12, 90, 600, 250, 30]
    bumped[403:409] += [0.1, 0.3, 2.8, 1.3, 0.9, 0.4]
    many = norm.copy()
    for at in (100, 230, 310, 480, 555):
        many[at : at + 3] = 6.0
    few = [0.31, 0.28, 1.1, 4.6, 38.0, 210.0, 520.0, 190.0, 75.0, 0.35, 0.29]
    neighbours = [1.71, 1.70, 1.74, 1.83, 2.4, 4.4, 3.9, 2.9, 2.1, 1.72, 1.70]
    return {
        "rises for five steps before the loss does": make.run({"train/loss": bumped, "grad_norm": once}),
        "again and again": make.run({"train/loss": loss, "grad_norm": many}),
        "a few rows around one spike": make.run({"train/loss": neighbours, "grad_norm": few}),
    }


def stays_quiet() -> dict[str, Run]:
    rng = make.rng(2)
    heavy = np.exp(0.8 * rng.standard_normal(600))
    opening = np.r_[52.0, 30.0, 12.0, 6.0, 0.6 * np.exp(0.2 * rng.standard_normal(300))]
    schedule = np.r_[np.full(200, 0.3), np.full(200, 0.9)] * np.exp(0.1 * rng.standard_normal(400))
    return {
        "heavy-tailed, as with small batches": make.run(
            {"train/loss": make.healthy_loss(600), "grad_norm": heavy}
        ),
        "large first gradients": make.run({"train/loss": make.healthy_loss(304), "grad_norm": opening}),
        "a new level": make.run({"train/loss": make.healthy_loss(), "grad_norm": schedule}),
        "four rows, falling": make.run(
            {"train/loss": [7.0, 1.1, 0.6, 0.5], "grad_norm": [39.0, 1.9, 0.7, 0.6]}
        ),
        "a healthy net, really trained": trained(Loop()),
    }
