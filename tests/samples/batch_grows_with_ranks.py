"""Samples of batch-grows-with-ranks."""

from __future__ import annotations

from tests import make
from tests.samples.gradients_are_not_averaged import averaged_run
from tests.samples.ranks_disagree import losses
from traindx.vocabulary.run import Run
from traindx.vocabulary.setup import Setup


def parallel(ranks: int, optimizer: str, own: bool = True, **more: str | float) -> Run:
    found = losses(ranks)
    signals = found if own else dict.fromkeys(found, found["train/loss"])
    known = {"world_size": ranks, "wrapper": "DistributedDataParallel", "batch_size": 32.0, "lr": 0.1}
    return make.run(signals, setup=Setup().with_facts({**known, "optimizer": optimizer, **more}, "capture"))


def fires() -> dict[str, Run]:
    return {
        "two": parallel(2, "SGD"),
        "four, Adam": parallel(4, "AdamW"),
        "averaged by hand": averaged_run(4, 1.0, lr=0.1, batch_size=16.0),
    }


def stays_quiet() -> dict[str, Run]:
    return {"the same samples": parallel(2, "SGD", own=False), "of four": parallel(4, "AdamW", own=False)}
