"""Samples of ranks-see-same-data."""

from __future__ import annotations

import numpy as np

from tests import make
from tests.samples.ranks_disagree import losses
from traindx.vocabulary.run import Run
from traindx.vocabulary.setup import Setup

DDP = Setup().with_facts({"wrapper": "DistributedDataParallel"}, "capture")
SHARDED = Setup().with_facts({"wrapper": "fully_shard"}, "capture")


def fires() -> dict[str, Run]:
    loss = make.healthy_loss(200)
    cut = loss.copy()
    cut[7] *= 1.01
    four = {f"rank/{r}/train/loss" if r else "train/loss": loss for r in range(4)}
    return {
        "two ranks": make.run({"train/loss": loss, "rank/1/train/loss": loss}, setup=DDP),
        "four ranks, sharded": make.run(four, setup=SHARDED),
        "one step differs": make.run({"train/loss": loss, "rank/1/train/loss": cut}, setup=DDP),
    }


def stays_quiet() -> dict[str, Run]:
    own = losses()
    half = np.where(np.arange(len(own["train/loss"])) % 2, own["train/loss"], own["rank/1/train/loss"])
    return {
        "samples of their own": make.run(own, setup=DDP),
        "occasionally the same": make.run({**own, "rank/1/train/loss": half}, setup=DDP),
        "a ten-thousandth apart": make.run(
            {"train/loss": own["train/loss"], "rank/1/train/loss": own["train/loss"] * 1.0001}, setup=DDP
        ),
    }
