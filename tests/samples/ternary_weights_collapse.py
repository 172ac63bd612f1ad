"""Samples of ternary-weights-collapse."""

from __future__ import annotations

import numpy as np

from tests import make
from traindx.vocabulary.run import Floats, Panel, Run

N = 30


def shares(*ends: float) -> Panel:
    """Shares by module that go from a third to `ends` in the first half of the run."""
    t = np.minimum(1, np.arange(N) / (N / 2))[:, None]
    values = 0.33 + (np.array(ends)[None] - 0.33) * t + 0.002 * make.rng(3).standard_normal((N, len(ends)))
    return Panel(10.0 * np.arange(N), tuple(f"body.{i}" for i in range(len(ends))), np.clip(values, 0, 1))


def run_of(panels: dict[str, Panel], loss: Floats | None = None) -> Run:
    loss = make.healthy_loss(10 * N) if loss is None else loss
    return make.run({"train/loss": loss}, panels=panels)


def fires() -> dict[str, Run]:
    flat = 2.3 + 0.01 * make.rng(4).standard_normal(10 * N)
    majority = {"quant/zero_fraction": shares(0.0, 0.1), "quant/majority": shares(0.99, 0.4)}
    return {
        "one layer of zeros": run_of({"quant/zero_fraction": shares(0.4, 0.98, 0.5)}, flat),
        "all layers": run_of({"quant/zero_fraction": shares(1.0, 1.0)}, flat),
        "all weights on the highest level": run_of(majority),
        "logged by the loop": make.run(
            {
                "train/loss": flat,
                "quant/zero_fraction/fc1": 0.5 + 0.49 * np.minimum(1, np.arange(10 * N) / 100),
            }
        ),
    }


def stays_quiet() -> dict[str, Run]:
    back = shares(0.4, 0.45)
    back.values[:8] = 0.99
    return {
        "healthy ternary nets": run_of({"quant/zero_fraction": shares(0.3, 0.5, 0.7)}),
        "sparse": run_of({"quant/zero_fraction": shares(0.9, 0.6), "quant/majority": shares(0.9, 0.6)}),
        "eight bits": run_of(
            {"quant/zero_fraction": shares(0.01, 0.02), "quant/majority": shares(0.02, 0.02)}
        ),
        "zeros at the start only": run_of({"quant/zero_fraction": back}),
    }
