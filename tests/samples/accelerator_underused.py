"""Samples of accelerator-underused."""

from __future__ import annotations

import numpy as np

from tests import make
from traindx.vocabulary.run import Run


def fires() -> dict[str, Run]:
    noise = 0.05 * make.rng(1).standard_normal(100)
    return {
        "half idle": make.run({"util/device": 0.5 + noise}),
        "nearly all idle": make.run({"util/device": 0.1 + 0.5 * noise.clip(0)}),
    }


def stays_quiet() -> dict[str, Run]:
    noise = 0.02 * make.rng(2).standard_normal(100)
    dips = np.clip(0.95 + noise, 0, 1)
    dips[::10] = 0.2
    return {
        "busy": make.run({"util/device": np.clip(0.95 + noise, 0, 1)}),
        "dips at evaluations": make.run({"util/device": dips}),
        "loading comes first": make.run({"util/device": np.r_[np.zeros(8), np.clip(0.95 + noise, 0, 1)]}),
    }
