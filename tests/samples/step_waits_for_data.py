"""Samples of step-waits-for-data."""

from __future__ import annotations

import numpy as np

from tests import make
from traindx.vocabulary.run import Run


def fires() -> dict[str, Run]:
    rng = make.rng(1)
    compute = 0.2 * np.exp(0.03 * rng.standard_normal(300))
    data = 0.3 * np.exp(0.3 * rng.standard_normal(300))
    return {
        "most of every step": make.run({"time/step": compute + data, "time/data": data}),
        "a single line": make.run({"time/step": [12.5], "time/data": [11.75]}),
        "stalls in a short log": make.run(
            {
                "time/step": [0.154, 0.154, 67.6, 0.16, 3.06, 0.154, 15.3, 0.154],
                "time/data": [0.001, 0.001, 67.5, 0.001, 2.99, 0.001, 15.2, 0.001],
            }
        ),
        "times measured side by side": make.run({"time/step": compute, "time/data": data}),
    }


def stays_quiet() -> dict[str, Run]:
    rng = make.rng(2)
    step = 0.7 * np.exp(0.02 * rng.standard_normal(300))
    data = 0.07 * np.exp(0.3 * rng.standard_normal(300))
    first = data.copy()
    first[0] = 0.4
    stalls = data.copy()
    stalls[::15] = 0.6
    return {
        "a tenth": make.run({"time/step": step, "time/data": data}),
        "the first row fills the queues": make.run({"time/step": step, "time/data": first}),
        "an occasional stall": make.run({"time/step": step, "time/data": stalls}),
        "a batch that was drawn once": make.run(
            {"time/step": step, "time/data": (np.array([0]), np.array([2.0]))}
        ),
        "one stall in a short log": make.run(
            {
                "time/step": [0.15, 0.15, 67.6, 0.16, 0.15, 0.15, 0.15, 0.15],
                "time/data": [0.01, 0.01, 67.5, 0.01, 0.01, 0.01, 0.01, 0.01],
            }
        ),
        "two rows": make.run({"time/step": [0.81, 0.79], "time/data": [0.06, 0.01]}),
    }
