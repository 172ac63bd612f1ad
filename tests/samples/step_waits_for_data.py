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
        "a single line": make.run({"time/step": [40.1906], "time/data": [38.057]}),
        "times measured side by side": make.run({"time/step": compute, "time/data": data}),
    }


def stays_quiet() -> dict[str, Run]:
    rng = make.rng(2)
    step = 0.68 * np.exp(0.02 * rng.standard_normal(300))
    data = 0.066 * np.exp(0.3 * rng.standard_normal(300))
    first = data.copy()
    first[0] = 0.37
    stalls = data.copy()
    stalls[::15] = 0.6
    return {
        "a tenth": make.run({"time/step": step, "time/data": data}),
        "the first row fills the queues": make.run({"time/step": step, "time/data": first}),
        "now and then a stall": make.run({"time/step": step, "time/data": stalls}),
        "two rows": make.run({"time/step": [0.705, 0.705], "time/data": [0.052, 0.002]}),
    }
