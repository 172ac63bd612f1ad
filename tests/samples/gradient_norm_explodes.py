"""Samples of gradient-norm-explodes."""

from __future__ import annotations

import numpy as np

from tests import make
from tests.loops import Loop, trained
from traindx.vocabulary.run import Run


def fires() -> dict[str, Run]:
    rng = make.rng(1)
    late = np.r_[
        0.4 * np.exp(0.2 * rng.standard_normal(300)), np.geomspace(0.5, 400, 60), np.full(40, 300.0)
    ]
    loss = np.r_[make.healthy_loss(320), np.linspace(0.4, 7.5, 40), 7.5 + 0.1 * rng.standard_normal(40)]
    nan = np.r_[
        np.full(200, 1.0) * np.exp(0.1 * rng.standard_normal(200)),
        np.geomspace(2, 5e4, 20),
        [np.inf, np.nan],
    ]
    burst = np.r_[0.9, 310.0, 720.0, 1900.0, 640.0, 280.0, 95.0, 40.0, np.exp(rng.standard_normal(54))]
    after = np.r_[1.6, 4.0, 19.0, 31.0, 42.0, 30.0, 22.0, 15.0, 8.0 + 0.1 * rng.standard_normal(54)]
    return {
        "late in a long run, the loss follows": make.run({"train/loss": loss, "grad_norm": late}),
        "until it is not finite": make.run({"train/loss": make.healthy_loss(222), "grad_norm": nan}),
        "in the warm-up, and the loss never comes back": make.run({"train/loss": after, "grad_norm": burst}),
        "gradients are never cleared, really trained": trained(Loop(accumulates=True, lr=0.1, depth=2)),
        "no loss logged": make.run({"grad_norm": late}),
    }


def stays_quiet() -> dict[str, Run]:
    rng = make.rng(2)
    summed = 200 * np.exp(0.3 * rng.standard_normal(400))
    growing = np.geomspace(0.1, 3.0, 400) * np.exp(0.1 * rng.standard_normal(400))
    first = np.r_[52.0, 12.0, 5.0, 0.6 * np.exp(0.3 * rng.standard_normal(100))]
    spike = 0.3 * np.exp(0.1 * rng.standard_normal(400))
    spike[200:206] = [0.9, 3.0, 12, 90, 600, 250]
    zero_init = np.r_[np.geomspace(0.01, 1.0, 20), np.exp(0.2 * rng.standard_normal(380))]
    return {
        "a norm of 200 all along, of a sum": make.run(
            {"train/loss": make.healthy_loss(), "grad_norm": summed}
        ),
        "grows thirtyfold while the loss falls": make.run(
            {"train/loss": make.healthy_loss(), "grad_norm": growing}
        ),
        "large first gradients": make.run({"train/loss": make.healthy_loss(103), "grad_norm": first}),
        "a spike that recovers": make.run({"train/loss": make.healthy_loss(), "grad_norm": spike}),
        "output layer initialized to zero": make.run(
            {"train/loss": make.healthy_loss(), "grad_norm": zero_init}
        ),
        "a loss near zero doubles after spikes": make.run(
            {
                "train/loss": np.r_[make.healthy_loss(200, floor=0.01), np.full(200, 0.026)],
                "grad_norm": spike,
            }
        ),
        "a healthy net, really trained": trained(Loop()),
        "an agent whose values grow, and whose last rewards are poor": make.run(
            {
                "train/reward": np.r_[np.linspace(10, 400, 300), np.full(100, 150.0)],
                "grad_norm": np.r_[np.full(280, 0.4), np.geomspace(0.5, 40, 120)],
            }
        ),
    }
