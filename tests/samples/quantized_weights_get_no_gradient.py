"""Samples of quantized-weights-get-no-gradient."""

from __future__ import annotations

import numpy as np

from tests import make
from traindx.vocabulary.run import Floats, Panel, Run

N = 20


def passed(*ends: float, first: Floats | None = None) -> Run:
    """What of the gradient reaches each module's float weights."""
    values = np.tile(np.array(ends), (N, 1)) * np.exp(0.1 * make.rng(2).standard_normal((N, len(ends))))
    if first is not None:
        values[: len(first)] = first[:, None]
    names = tuple(f"body.{i}" for i in range(len(ends)))
    return make.run(
        {"train/loss": make.healthy_loss(10 * N)},
        panels={"quant/gradient": Panel(10.0 * np.arange(N), names, values)},
    )


def fires() -> dict[str, Run]:
    return {
        "rounded without an estimator": passed(0.0, 0.0),
        "one layer of three": passed(1.0, 0.0, 0.9),
        "one that takes part late": passed(0.0, first=np.full(4, np.nan)),
    }


def stays_quiet() -> dict[str, Run]:
    return {
        "straight through": passed(1.0, 1.0),
        "a small part, through the scale": passed(0.002, 0.01),
        "frozen layers next to others": passed(1.0, np.nan),
        "nothing passed in the first steps only": passed(1.0, first=np.zeros(5)),
    }
