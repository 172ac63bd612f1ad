"""Samples of gradient-not-finite."""

from __future__ import annotations

import numpy as np

from tests import make
from tests.loops import Loop, trained
from traindx.vocabulary.run import Run


def norms(n: int = 400, seed: int = 1) -> np.ndarray:
    return np.exp(0.2 * make.rng(seed).standard_normal(n))


def fires() -> dict[str, Run]:
    late, often = norms(), norms(seed=2)
    late[300:] = np.nan
    often[60::12] = often[61::12] = np.inf
    return {
        "from one step on": make.run({"train/loss": make.healthy_loss(), "grad_norm": late}),
        "again and again": make.run({"train/loss": make.healthy_loss(), "grad_norm": often}),
        "never finite": make.run({"train/loss": np.full(40, 0.0), "grad_norm": np.full(40, np.nan)}),
        "thirty layers with twice the gain, really trained": trained(Loop(depth=30, gain=2.8, lr=0.01)),
    }


def stays_quiet() -> dict[str, Run]:
    search = norms()
    search[:12] = np.inf
    return {
        "the search for the first loss scale": make.run(
            {"train/loss": make.healthy_loss(), "grad_norm": search}
        ),
        "the first of two rows": make.run({"train/loss": [2.1, 1.2], "grad_norm": [np.nan, 3.1]}),
        "a healthy net, really trained": trained(Loop()),
    }
