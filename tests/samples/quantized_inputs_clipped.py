"""Samples of quantized-inputs-clipped."""

from __future__ import annotations

import numpy as np

from tests import make
from traindx.vocabulary.run import Floats, Panel, Run

N = 20


def on_ends(*ends: float, first: float = 0.01, loss: Floats | None = None) -> Run:
    """Shares of inputs on the ends of the range, from `first` to `ends` in half of the run."""
    t = np.minimum(1, np.arange(N) / (N / 2))[:, None]
    values = np.clip(
        (1 - t) * first + t * np.array(ends) + 0.004 * make.rng(2).standard_normal((N, len(ends))), 0, 1
    )
    panel = Panel(10.0 * np.arange(N), tuple(f"body.{i}" for i in range(len(ends))), values)
    loss = make.healthy_loss(10 * N) if loss is None else loss
    return make.run({"train/loss": loss}, panels={"quant/act_clipped": panel})


def fires() -> dict[str, Run]:
    flat = 2.3 + 0.01 * make.rng(4).standard_normal(10 * N)
    return {
        "a scale that is far too small": on_ends(0.7, 0.8, first=0.7, loss=flat),
        "activations that outgrow a fixed range": on_ends(0.45),
        "one layer of three": on_ends(0.0, 0.5, 0.02),
    }


def stays_quiet() -> dict[str, Run]:
    return {
        "a range that follows": on_ends(0.0, 0.004),
        "a learnt range that cuts outliers": on_ends(0.06, 0.1),
        "observers that lag at the start": on_ends(0.01, 0.02, first=0.5),
        "few bits": on_ends(0.2),
    }
