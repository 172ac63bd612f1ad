"""Samples of step-compiles-again."""

from __future__ import annotations

import numpy as np

from tests import make
from traindx.vocabulary.run import Run


def compiled(at: np.ndarray, seconds: float, *, n: int = 300, scale: float = 1.0) -> Run:
    """Steps of 20 ms, and compilations in some of them."""
    rng = make.rng(3)
    step = scale * 0.02 * np.exp(0.05 * rng.standard_normal(n))
    took = scale * seconds * np.exp(0.1 * rng.standard_normal(len(at)))
    step[at] += took
    return make.run({"time/step": step, "time/compile": (at, took), "calls/compile": (at, np.ones(len(at)))})


def fires() -> dict[str, Run]:
    return {
        "every shape anew": compiled(np.arange(0, 300, 3), 1.5),
        "a Python number that changes": compiled(np.arange(300), 0.4),
        "occasionally": compiled(np.arange(0, 300, 25), 0.3),
        "in a run that has just begun": compiled(np.arange(24), 0.1, n=24),
    }


def stays_quiet() -> dict[str, Run]:
    return {
        "once": compiled(np.array([0]), 9.0),
        "with a second shape, and the last batch": compiled(np.array([0, 1, 99, 199]), 5.0),
        "lengths of a curriculum, in a long run": compiled(np.arange(0, 90, 15), 0.04),
        "small programs in no time": compiled(np.arange(0, 300, 10), 0.002),
        "an evaluation late": compiled(np.array([0, 150, 151]), 2.0),
    }
