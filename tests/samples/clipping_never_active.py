"""Samples of clipping-never-active."""

from __future__ import annotations

import numpy as np

from tests import make
from tests.loops import Loop, trained
from traindx.vocabulary.run import Run
from traindx.vocabulary.setup import Setup


def fires() -> dict[str, Run]:
    noise = np.exp(0.2 * make.rng(1).standard_normal(200))
    return {
        "norms far below the clip": make.run({"grad_norm": 0.1 * noise}, setup=Setup(clip_norm=1.0)),
        "a clip of 50, really trained": trained(Loop(clip=50.0)),
        "the ratio itself is logged": make.run({"clip_ratio": np.ones(200)}),
    }


def stays_quiet() -> dict[str, Run]:
    noise = np.exp(0.5 * make.rng(2).standard_normal(200))
    return {
        "at the start only, really trained": trained(Loop(clip=0.3)),
        "half of the steps": make.run({"grad_norm": noise}, setup=Setup(clip_norm=1.0)),
    }
