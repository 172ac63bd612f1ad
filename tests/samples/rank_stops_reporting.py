"""Samples of rank-stops-reporting."""

from __future__ import annotations

import msgspec
import numpy as np

from tests import make
from traindx.vocabulary.run import Run, series

STEPS = np.arange(400.0)


def ranks_until(*until: int, every: int = 1) -> Run:
    """A loss of each rank, up to so many steps."""
    kept = {rank: np.arange(0, n, every) for rank, n in enumerate(until)}
    return make.run(
        {f"rank/{r}/train/loss" if r else "train/loss": (STEPS[i], make.healthy_loss(400, seed=r)[i])
         for r, i in kept.items()}
    )  # fmt: skip


def timed(end: float) -> Run:
    """Two ranks with times: the second stops at a third of the steps, and at its own time."""
    loss, third = make.healthy_loss(400), np.arange(0, 130.0)
    ranks_until = {
        "train/loss": series(STEPS, loss, STEPS),
        "rank/1/train/loss": series(third, loss[:130], np.linspace(0, end, 130)),
    }
    return msgspec.structs.replace(make.run({}), series=ranks_until, complete=True)


def fires() -> dict[str, Run]:
    return {
        "in the middle": ranks_until(400, 200),
        "the first": ranks_until(120, 400, 400),
        "near the end": ranks_until(400, 400, 400, 360),
        "at a third of the time": timed(130.0),
        "every fourth step": ranks_until(400, 200, every=4),
    }


def stays_quiet() -> dict[str, Run]:
    whole = make.healthy_loss(400)
    return {
        "all to the end": ranks_until(400, 400, 400),
        "goes on, with fewer steps": timed(398.0),
        "a few rows late": ranks_until(400, 393),
        "reports rarely": make.run({"train/loss": whole, "rank/1/train/loss": (STEPS[::16], whole[::16])}),
        "one rank alone evaluates": make.run(
            {
                "train/loss": whole[:300],
                "rank/1/train/loss": whole[:300],
                "val/loss": (STEPS[::20], whole[::20]),
            }
        ),
    }
