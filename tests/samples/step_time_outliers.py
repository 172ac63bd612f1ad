"""Samples of step-time-outliers."""

from __future__ import annotations

import numpy as np

from tests import make
from traindx.vocabulary.run import Run


def stalled(seed: int = 1) -> np.ndarray:
    """One step in twenty, at random, takes ten times as long."""
    rng = make.rng(seed)
    times = 0.2 * np.exp(0.05 * rng.standard_normal(600))
    times[rng.permutation(np.arange(40, 600))[:30]] *= 10
    return times


def fires() -> dict[str, Run]:
    regular = 0.2 * np.exp(0.05 * make.rng(2).standard_normal(600))
    regular[48::24] = 3.0
    return {
        "stalls at random": make.run({"time/step": stalled()}),
        "every twenty-fourth step, and nothing validates": make.run({"time/step": regular}),
        "stalls that have nothing to do with validation": make.run(
            {"time/step": stalled(3), "val/loss": (np.arange(0, 600, 100), np.geomspace(2, 1, 6))}
        ),
    }


def stays_quiet() -> dict[str, Run]:
    rng = make.rng(4)
    usual = 0.05 * np.exp(0.05 * rng.standard_normal(134))
    nano = usual.copy()
    nano[::25] = 6.8
    nano[0] = 41.0
    steps = 10 * np.arange(134)
    held = (np.arange(0, 1340, 250), np.geomspace(3, 1.5, 6))
    few = 0.2 * np.exp(0.05 * rng.standard_normal(600))
    few[[100, 333]] = 1.5
    return {
        "evaluation and compilation inside the step": make.run(
            {"time/step": (steps, nano), "val/loss": held}
        ),
        "two slow steps": make.run({"time/step": few}),
        "sequences of all lengths": make.run({"time/step": np.exp(0.4 * rng.standard_normal(600))}),
        "a new level": make.run({"time/step": np.r_[few[:300], 4 * few[:300]]}),
    }
