"""Samples of graph-is-kept."""

from __future__ import annotations

import numpy as np

from tests import make
from traindx.vocabulary.run import Run
from traindx.vocabulary.setup import Setup


def kept(count: int, *, grows: float = 1.0, **more: str) -> Run:
    setup = Setup().with_facts({"graphs_kept": count, **more}, "capture")
    return make.run(
        {"train/loss": make.healthy_loss(100), "mem/host": 4e8 * np.linspace(1, grows, 100)}, setup=setup
    )


def fires() -> dict[str, Run]:
    return {
        "losses in a list": kept(64, graphs_kept_by="losses", graphs_kept_at="train.py:31"),
        "outputs, and memory grows": kept(900, grows=2.0, graphs_kept_by="self.outputs"),
        "a sum, its line not found": kept(500, graphs_kept_by="total"),
    }


def stays_quiet() -> dict[str, Run]:
    return {"nothing is kept": kept(0), "memory grows for another reason": kept(0, grows=2.0)}
