"""Samples of quantized-weights-clipped."""

from __future__ import annotations

import numpy as np

from tests import make
from traindx.vocabulary.run import Floats, Panel, Run

N = 20


def beyond(*ends: float, first: float = 0.02, loss: Floats | None = None) -> Run:
    """Shares of weights beyond the range, from `first` to the `ends` in half of the run."""
    t = np.minimum(1, np.arange(N) / (N / 2))[:, None]
    values = np.clip(
        (1 - t) * first + t * np.array(ends) + 0.004 * make.rng(2).standard_normal((N, len(ends))), 0, 1
    )
    panel = Panel(10.0 * np.arange(N), tuple(f"body.{i}" for i in range(len(ends))), values)
    return make.run(
        {"train/loss": make.healthy_loss(10 * N) if loss is None else loss}, panels={"quant/clipped": panel}
    )


def fires() -> dict[str, Run]:
    flat = 2.3 + 0.01 * make.rng(4).standard_normal(10 * N)
    return {
        "a step size that is far too small": beyond(0.9, 0.95, first=0.9, loss=flat),
        "weights that outgrow a fixed range": beyond(0.5),
        "one layer of three": beyond(0.0, 0.6, 0.01),
    }


def stays_quiet() -> dict[str, Run]:
    return {
        "nothing beyond": beyond(0.0, 0.001),
        "a learnt range that cuts outliers": beyond(0.08, 0.12),
        "observers that lag at the start": beyond(0.01, 0.03, first=0.6),
        "one layer of few levels": beyond(np.nan, 0.01),
    }
