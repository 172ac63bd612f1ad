"""Samples of rank-stops-reporting."""

from __future__ import annotations

import numpy as np

from tests import make
from traindx.vocabulary.run import Run

STEPS = np.arange(400.0)


def told(*until: int, every: int = 1) -> Run:
    """A loss of each rank, up to so many steps."""
    kept = {rank: np.arange(0, n, every) for rank, n in enumerate(until)}
    return make.run(
        {f"rank/{r}/train/loss" if r else "train/loss": (STEPS[i], make.healthy_loss(400, seed=r)[i])
         for r, i in kept.items()}
    )  # fmt: skip


def fires() -> dict[str, Run]:
    return {
        "in the middle": told(400, 200),
        "the first": told(120, 400, 400),
        "near the end": told(400, 400, 400, 360),
        "every fourth step": told(400, 200, every=4),
    }


def stays_quiet() -> dict[str, Run]:
    whole = make.healthy_loss(400)
    return {
        "all to the end": told(400, 400, 400),
        "a few rows behind": told(400, 393),
        "reports rarely": make.run({"train/loss": whole, "rank/1/train/loss": (STEPS[::16], whole[::16])}),
        "one rank alone evaluates": make.run(
            {"train/loss": whole[:300], "rank/1/train/loss": whole[:300], "val/loss": (STEPS[::20], whole[::20])}
        ),
    }
