"""Samples of ranks-disagree."""

from __future__ import annotations

import msgspec
import numpy as np

from tests import make
from traindx.vocabulary.run import Panel, Run, series

N = 300
MODULES = ("stem", "head")


def norms(seed: int, n: int = N) -> np.ndarray:
    return np.exp(0.3 * make.rng(seed).standard_normal(n)) * np.linspace(2, 0.5, n)


def losses(ranks: int = 2) -> dict[str, np.ndarray]:
    """Each rank's own loss on its own samples."""
    level = np.linspace(2.3, 0.4, N)
    found = [level * (1 + 0.1 * make.rng(20 + rank).standard_normal(N)) for rank in range(ranks)]
    return {f"rank/{rank}/train/loss" if rank else "train/loss": loss for rank, loss in enumerate(found)}


def weights(*sizes: np.ndarray) -> dict[str, Panel]:
    """Weight norms of two modules, of each rank."""
    steps = np.arange(0.0, N, 10)
    grown = np.outer(1 + 0.001 * steps, np.ones(2))
    return {f"rank/{r}/weight_norm" if r else "weight_norm": Panel(steps, MODULES, grown * size)
            for r, size in enumerate(sizes)}  # fmt: skip


def timed(steps: int, every: float) -> Run:
    """Two ranks with times, the second of which makes so many steps, `every` so many seconds."""
    loss = make.healthy_loss(N)
    return msgspec.structs.replace(
        make.run({}),
        series={
            "train/loss": series(np.arange(N), loss, np.arange(N)),
            "rank/1/train/loss": series(np.arange(steps), 1.01 * loss[:steps], every * np.arange(steps)),
            "grad_norm": series(np.arange(N), norms(1), np.arange(N)),
            "rank/1/grad_norm": series(np.arange(steps), norms(1)[:steps], every * np.arange(steps)),
        },
    )


def fires() -> dict[str, Run]:
    same = norms(1)
    late = np.where(np.arange(N) < N // 2, same, norms(2))
    now_and_then = np.where(np.arange(N) % 8 < 2, norms(2), same)
    same_norms = {"grad_norm": same, "rank/1/grad_norm": same}
    return {
        "never averaged": make.run({**losses(), "grad_norm": same, "rank/1/grad_norm": norms(2)}),
        "from the middle on": make.run({**losses(), "grad_norm": same, "rank/1/grad_norm": late}),
        "occasionally": make.run({**losses(), "grad_norm": same, "rank/1/grad_norm": now_and_then}),
        "one of three": make.run(
            {**losses(3), "grad_norm": same, "rank/1/grad_norm": same, "rank/2/grad_norm": norms(3)}
        ),
        "gradients averaged, other weights": make.run(
            {**losses(), **same_norms}, panels=weights(np.array([3.0, 1.0]), np.array([3.01, 1.04]))
        ),
        "one has made fewer steps": timed(100, every=3.0),
        "the norm of all weights": make.run(
            {**losses(), "weight_norm": np.linspace(5, 6, N), "rank/1/weight_norm": np.linspace(5.1, 6.3, N)}
        ),
    }


def stays_quiet() -> dict[str, Run]:
    same = norms(1)
    rounded = same * (1 + 1e-6 * make.rng(4).standard_normal(N))
    torn = same.copy()
    torn[-1] *= 2
    size = np.array([3.0, 1.0])
    return {
        "losses of different samples": make.run(
            {**losses(), "grad_norm": same, "rank/1/grad_norm": same}, panels=weights(size, size)
        ),
        "the rounding of two devices": make.run(
            {**losses(), "grad_norm": same, "rank/1/grad_norm": rounded},
            panels=weights(size, size * (1 + 1e-6)),
        ),
        "one that ended early": timed(150, every=1.0),
        "one torn row": make.run({**losses(), "grad_norm": same, "rank/1/grad_norm": torn}),
        "no gradient at all": make.run({**losses(), "grad_norm": 0 * same, "rank/1/grad_norm": 0 * same}),
    }
