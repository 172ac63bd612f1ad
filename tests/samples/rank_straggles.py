"""Samples of rank-straggles."""

from __future__ import annotations

import numpy as np

from tests import make
from traindx.vocabulary.run import Run

N = 320


def step(own: list[np.ndarray], exchange: float = 0.01) -> dict[str, np.ndarray]:
    """What ranks record of synchronous steps whose own work takes `own[r][n]` seconds: the step ends for all when the
    slowest has come, and the waiting is part of the backward pass."""
    slowest = np.max(own, axis=0) + exchange
    found: dict[str, np.ndarray] = {}
    for rank, seconds in enumerate(own):
        prefix = f"rank/{rank}/" if rank else ""
        found[f"{prefix}time/step"] = slowest
        found[f"{prefix}time/backward"] = slowest - seconds
    return found


def work(seed: int, level: float = 0.05, jitter: float = 0.05) -> np.ndarray:
    return level * np.exp(jitter * make.rng(seed).standard_normal(N))


def fires() -> dict[str, Run]:
    slow = np.where(make.rng(9).random(N) < 0.9, work(2, 0.09), work(3))
    late = np.concatenate([work(2)[: N // 2], work(4, 0.12)[N // 2 :]])
    data = {"time/data": work(5, 0.002), "rank/1/time/data": work(6, 0.04), "time/step": work(7, 0.06)}
    return {
        "one of two": make.run(step([work(1), slow])),
        "the first of four": make.run(step([work(2, 0.1), work(1), work(3), work(4)])),
        "from the middle on": make.run(step([work(1), late, work(3)])),
        "its data": make.run(data),
        "steps that are logged without the waiting": make.run(
            {"rank/0/time/step": work(1), "rank/1/time/step": work(2, 0.08), "rank/2/time/step": work(3)}
        ),
        "a few milliseconds": make.run(step([work(1, 0.004), work(2, 0.007)], 0.001)),
    }


def stays_quiet() -> dict[str, Run]:
    turns = make.rng(10).integers(0, 3, N)
    taking = [work(seed) + 0.05 * (turns == seed) for seed in range(3)]
    passing = work(2)
    passing[100:160] *= 3
    wide = [work(seed, 0.05, 0.5) for seed in (1, 2)]
    return {
        "all the same": make.run(step([work(1), work(2), work(3)])),
        "they take turns": make.run(step(taking)),
        "busy for a while": make.run(step([work(1), passing])),
        "wide jitter": make.run(step(wide)),
        "a little slower": make.run(step([work(1), work(2, 0.054)])),
        "all are slow": make.run(step([work(1, 0.5), work(2, 0.5)])),
    }
