"""Samples of quantized-weights-oscillate."""

from __future__ import annotations

import numpy as np

from tests import make
from traindx.vocabulary.run import Floats, Panel, Run
from traindx.vocabulary.setup import Setup

N = 20


def flips(*ends: float, first: float = 0.05, levels: float = 3.0) -> Run:
    """Shares of values that change their level in a step, from `first` to the `ends` in half of the run."""
    t = np.minimum(1, np.arange(N) / (N / 2))[:, None]
    values: Floats = np.exp((1 - t) * np.log(first) + t * np.log(np.array(ends)))
    values = np.clip(values * np.exp(0.2 * make.rng(2).standard_normal(values.shape)), 0, 1)
    panel = Panel(10.0 * np.arange(N), tuple(f"body.{i}" for i in range(len(ends))), values)
    setup = Setup(facts={"quantized": True, "quantized_levels": levels})
    return make.run({"train/loss": make.healthy_loss(10 * N)}, panels={"quant/flips": panel}, setup=setup)


def fires() -> dict[str, Run]:
    return {
        "ternary, a tenth each step": flips(0.1, 0.12),
        "one layer": flips(0.002, 0.08, 0.004),
        "binary": flips(0.3, levels=2.0),
        "four bits": flips(0.3, 0.25, levels=15.0),
    }


def stays_quiet() -> dict[str, Run]:
    return {
        "comes to rest": flips(0.001, 0.0005),
        "restless at the start only": flips(0.004, 0.006, first=0.4),
        "eight bits": flips(0.5, 0.4, levels=255.0),
        "just below": flips(0.012, 0.015),
        "a fine grid is crossed often": flips(0.05, 0.06, levels=15.0),
    }
