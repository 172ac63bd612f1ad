"""Samples of out-of-memory."""

from __future__ import annotations

from tests import make
from traindx.vocabulary.run import Event, Run

TEXT = "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB"


def fires() -> dict[str, Run]:
    return {
        "at the end": make.run(
            {"train/loss": make.healthy_loss(50)}, events=(Event("out-of-memory", TEXT, 49.0, "line 60"),)
        ),
        "caught, and the run went on": make.run(
            {"train/loss": make.healthy_loss(50)}, events=(Event("out-of-memory", TEXT, 20.0, "line 31"),)
        ),
        "before the first step": make.run({}, events=(Event("out-of-memory", TEXT, None, "line 3"),)),
    }


def stays_quiet() -> dict[str, Run]:
    return {
        "nothing happened": make.run({"train/loss": make.healthy_loss(50)}),
        "another crash": make.run(
            {"train/loss": make.healthy_loss(50)},
            events=(Event("crash", "KeyboardInterrupt", 49.0, "line 60"),),
        ),
    }
