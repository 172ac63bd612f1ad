"""Samples of gradient-norm-grows."""

from __future__ import annotations

import numpy as np

from tests import make
from tests.loops import Loop, trained
from traindx.vocabulary.run import Run


def fires() -> dict[str, Run]:
    noise = np.exp(0.1 * make.rng(1).standard_normal(400))
    flat = 1.4 + 0.05 * make.rng(2).standard_normal(400)
    return {
        "triples on a plateau": make.run(
            {"train/loss": flat, "grad_norm": np.linspace(0.5, 1.6, 400) * noise}
        ),
        "grows for the whole of a language model's run": make.run(
            {"train/loss": make.healthy_loss(), "grad_norm": np.geomspace(0.2, 0.8, 400) * noise}
        ),
        "gradients are never cleared, really trained": trained(
            Loop(accumulates=True, lr=0.02, depth=2, steps=250)
        ),
    }


def stays_quiet() -> dict[str, Run]:
    rng = make.rng(3)
    noise = np.exp(0.2 * rng.standard_normal(400))
    return {
        "level": make.run({"train/loss": make.healthy_loss(), "grad_norm": noise}),
        "grows by a third": make.run(
            {"train/loss": make.healthy_loss(), "grad_norm": np.linspace(1, 1.33, 400) * noise}
        ),
        "a warm-up": make.run(
            {
                "train/loss": make.healthy_loss(),
                "grad_norm": np.r_[np.linspace(0.2, 1, 30), np.ones(370)] * noise,
            }
        ),
        "wanders": make.run(
            {"train/loss": make.healthy_loss(), "grad_norm": np.exp(np.sin(np.arange(400) / 40)) * noise}
        ),
        "a healthy net, really trained": trained(Loop()),
    }
