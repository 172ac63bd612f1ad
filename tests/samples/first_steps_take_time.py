"""Samples of first-steps-take-time."""

from __future__ import annotations

import numpy as np

from tests import make
from traindx.vocabulary.run import Run
from traindx.vocabulary.setup import Setup


def times(n: int, usual: float, *first: float, recorded: float | None = None) -> Run:
    """Steps of about `usual` seconds, the first of which take what is given; `recorded` is that of the very first."""
    seconds = usual * np.exp(0.05 * make.rng(3).standard_normal(n))
    seconds[: len(first)] = first
    setup = Setup() if recorded is None else Setup().with_facts({"first_step_seconds": recorded}, "capture")
    return make.run({"train/loss": make.healthy_loss(n), "time/step": seconds}, setup=setup)


def fires() -> dict[str, Run]:
    return {
        "a compiled step": times(300, 0.1, 40.0),
        "the first of all, recorded": times(300, 0.1, recorded=25.0),
        "tried out in three": times(200, 0.2, 8.0, 5.0, 6.0),
    }


def stays_quiet() -> dict[str, Run]:
    late = times(300, 0.1)
    slow = late.series["time/step"].values.copy()
    slow[150] = 40.0
    return {
        "a few seconds": times(300, 0.01, 2.0),
        "a long run": times(20_000, 0.1, 40.0),
        "all the same": times(300, 5.0, recorded=6.0),
        "one in the middle": make.run({"train/loss": make.healthy_loss(300), "time/step": slow}),
    }
