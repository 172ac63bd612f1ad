"""Samples of gradients-are-not-averaged."""

from __future__ import annotations

import numpy as np

from tests import make
from traindx.vocabulary.run import Run
from traindx.vocabulary.setup import Setup

N = 120


def averaged_run(
    ranks: int, factor: float, optimizer: str = "SGD", noise: float = 0.0, **facts: str | float
) -> Run:
    """Processes with sums over gradients of their own, whose steps use `factor` times the mean."""
    own = make.rng(ranks).standard_normal((ranks, N)) + 0.3
    used = factor * own.mean(axis=0) + noise * make.rng(9).standard_normal(N)
    signals = {"train/loss": make.healthy_loss(N)}
    for rank in range(ranks):
        before = f"rank/{rank}/" if rank else ""
        signals |= {f"{before}exchange/own": own[rank], f"{before}exchange/used": used}
    known = {"world_size": ranks, "optimizer": optimizer, "loss_reduction_seen": "mean", **facts}
    return make.run(signals, setup=Setup().with_facts(known, "capture"))


def clipped() -> Run:
    """Summed gradients that are clipped in every other step."""
    run = averaged_run(2, 2.0)
    ratio = np.where(np.arange(N) % 2, 0.25, 1.0)
    signals = {name: found.values for name, found in run.series.items()}
    signals |= {name: values * ratio for name, values in signals.items() if name.endswith("exchange/used")}
    return make.run({**signals, "clip_ratio": ratio}, setup=run.setup)


def fires() -> dict[str, Run]:
    return {
        "two, summed": averaged_run(2, 2.0),
        "four, summed": averaged_run(4, 4.0),
        "four, divided twice": averaged_run(4, 0.25),
        "divided by half of them": averaged_run(4, 2.0),
        "with Adam": averaged_run(2, 2.0, "AdamW"),
        "accumulated, and summed": averaged_run(2, 2.0, loss_divided_by=4.0, accumulation=4.0),
        "and clipped": clipped(),
        "compressed": averaged_run(4, 4.0, noise=0.05),
    }


def stays_quiet() -> dict[str, Run]:
    return {
        "averaged": averaged_run(4, 1.0),
        "rounded": averaged_run(4, 1.0, noise=1e-4),
        "a loss divided by the processes, then summed": averaged_run(4, 4.0, loss_divided_by=4.0),
        "the same with accumulation": averaged_run(2, 2.0, loss_divided_by=8.0, accumulation=4.0),
        "a share for each sample": averaged_run(4, 1.05),
        "something else": averaged_run(2, 0.1, noise=3.0),
    }
