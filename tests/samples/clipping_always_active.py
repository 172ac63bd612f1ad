"""Samples of clipping-always-active."""

from __future__ import annotations

import numpy as np

from tests import make
from tests.loops import Loop, trained
from traindx.vocabulary.run import Run
from traindx.vocabulary.setup import Setup


def fires() -> dict[str, Run]:
    noise = np.exp(0.2 * make.rng(1).standard_normal(200))
    return {
        "a clip of 0.001, really trained": trained(Loop(clip=1e-3)),
        "everyday: norms of 2 to 3 under a clip of 1": make.run(
            {"train/loss": make.healthy_loss(200), "grad_norm": 2.5 * noise}, setup=Setup(clip_norm=1.0)
        ),
        "the ratio itself is logged": make.run({"clip_ratio": np.minimum(0.02 * noise, 1.0)}),
    }


def stays_quiet() -> dict[str, Run]:
    noise = np.exp(0.5 * make.rng(2).standard_normal(200))
    return {
        "half of the steps": make.run({"grad_norm": noise}, setup=Setup(clip_norm=1.0)),
        "at the start only, really trained": trained(Loop(clip=0.3)),
        "a ratio of 1 on most steps": make.run({"clip_ratio": np.minimum(2.0 / noise, 1.0)}),
    }
