"""Samples of step-time-jumps."""

from __future__ import annotations

import numpy as np

from tests import make
from traindx.vocabulary.run import Run


def fires() -> dict[str, Run]:
    noise = np.exp(0.05 * make.rng(1).standard_normal(400))
    level = np.ones(400)
    level[260:] = 2.0
    between = np.ones(400)
    between[150:230] = 3.0
    evaluated = level.copy()
    evaluated[::25] += 100.0
    evaluated[0] = 1000.0
    return {
        "half the throughput": make.run({"throughput": 5000 / level / noise}),
        "twice the time": make.run({"time/step": 0.05 * level * noise}),
        "ten times the time": make.run({"time/step": 0.05 * (9 * level - 8) * noise}),
        "for a while": make.run({"time/step": 0.05 * between * noise}),
        "among evaluations": make.run({"time/step": 0.05 * evaluated * noise}),
        "a dozen rows": make.run(
            {"time/step": [1.0, 1.02, 0.99, 1.0, 1.01, 1.0, 2.1, 2.05, 2.1, 2.08, 2.1, 2.11]}
        ),
    }


def stays_quiet() -> dict[str, Run]:
    noise = np.exp(0.05 * make.rng(2).standard_normal(400))
    evaluated = noise.copy()
    evaluated[::25] += 150.0
    evaluated[0] = 1200.0
    warm = np.r_[np.full(40, 3.0), np.ones(360)]
    batch = np.r_[np.full(200, 256.0), np.full(200, 512.0)]
    lengths = np.exp(0.5 * make.rng(3).standard_normal(400))
    return {
        "evaluations counted into the step": make.run({"time/step": 0.05 * evaluated}),
        "slow at the start": make.run({"time/step": 0.05 * warm * noise}),
        "a batch twice as large": make.run({"time/step": 0.002 * batch * noise, "batch_size": batch}),
        "sequences of all lengths": make.run({"time/step": lengths}),
        "creeps": make.run({"time/step": np.linspace(1, 2.5, 400) * noise}),
        "two slow steps": make.run({"time/step": np.r_[noise[:200], 9.0, 9.0, noise[200:]]}),
    }
