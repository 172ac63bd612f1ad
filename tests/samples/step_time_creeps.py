"""Samples of step-time-creeps."""

from __future__ import annotations

import numpy as np

from tests import make
from traindx.vocabulary.run import Run


def fires() -> dict[str, Run]:
    noise = np.exp(0.05 * make.rng(1).standard_normal(400))
    creeping = np.linspace(0.5, 1.2, 400) * noise
    data = np.linspace(0.05, 0.7, 400) * noise
    return {
        "more than twice as long in the end": make.run({"time/step": creeping}),
        "on a machine with other work": make.run({"time/step": creeping * busy(1)}),
        "the loader gets slower": make.run({"time/step": 0.5 * noise + data, "time/data": data}),
        "thirty times as long in the end": make.run({"time/step": np.linspace(0.01, 0.3, 400) * noise}),
        "the throughput goes down": make.run({"throughput": 1000 / np.linspace(1, 1.5, 400) / noise}),
        "each of a few steps": make.run(
            {"time/step": [105.1, 105.2, 105.2, 105.9, 106.3, 108, 110.2, 110.8, 111.1, 112]}
        ),
        "the first step compiles": make.run({"time/step": np.r_[60.0, creeping]}),
    }


def busy(seed: int, more: object = 0.3) -> np.ndarray:
    """Factors of step times: other work triples steps at random, each with the probability `more`."""
    return np.where(make.rng(seed).random(400) < more, 3.0, 1.0)


def stays_quiet() -> dict[str, Run]:
    noise = np.exp(0.05 * make.rng(2).standard_normal(400))
    batch = np.linspace(32, 512, 400)
    slow = np.ones(400)
    slow[200:] = 2.0
    return {
        "level": make.run({"time/step": 0.5 * noise}),
        "a batch that is ramped up": make.run({"time/step": 0.01 * batch * noise, "batch_size": batch}),
        "an average that forgets a fast start": make.run(
            {"time/step": 1.0 - 0.4 / (1 + np.arange(400) / 10)}
        ),
        "a sudden change": make.run({"time/step": slow * noise}),
        "a machine that gets busier": make.run(
            {"time/step": 0.5 * noise * busy(2, more=np.linspace(0, 0.6, 400))}
        ),
        "five steps in no order": make.run({"time/step": [105.2, 104.9, 106.3, 110.2, 111.1]}),
        "a tenth slower": make.run({"time/step": np.linspace(1, 1.1, 400) * noise}),
    }
