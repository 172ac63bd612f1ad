"""The peers' tables, and the form in which they get a log (the peers themselves need not be installed)."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from benchmarks.gym.scoring.peers import (
    COLUMNS,
    PEERS,
    RUNMEDIC,
    TRAINPROOF,
    as_lines,
    by_traindx,
    causes_of,
)
from tests import make
from traindx.causes import catalogue

KNOWN = {cause.slug for cause in catalogue()}


@pytest.mark.parametrize("table", [RUNMEDIC, TRAINPROOF])
def test_what_a_finding_means_is_a_cause(table: dict[str, tuple[str, ...]]) -> None:
    for means in table.values():
        assert means
        assert set(means) <= KNOWN - {"healthy"}


def test_a_log_keeps_all_its_numbers() -> None:
    loss = np.array([2.0, math.nan, 1.0])
    run = make.run({"train/loss": loss, "val/loss": ([2.0], [1.5]), "act_mean/x": np.ones(3)})
    rows = [json.loads(line) for line in as_lines(run).splitlines()]
    assert [row["step"] for row in rows] == [0.0, 1.0, 2.0]
    assert [row["train_loss"] for row in rows] == pytest.approx(loss, nan_ok=True)
    assert [row.get("val_loss") for row in rows] == [None, None, 1.5]
    assert set().union(*rows) <= {"step", *COLUMNS.values()}


def test_likely_causes_by_their_sentences() -> None:
    printed = [
        "Exploding gradients: the learning rate is too high for this point of training and there is no warmup",
        "Usually harmless: dropout/augmentation only run in train mode",
    ]
    assert causes_of(printed) == ("learning-rate-too-high", "missing-warmup")


def test_a_dead_run_alarms_and_a_healthy_one_does_not() -> None:
    flat = by_traindx(make.run({"train/loss": 2.3 + 0.01 * make.rng().standard_normal(300)}))
    assert flat["traindx, findings"]
    assert len(flat["traindx, findings"][0].causes) == 3
    steps = np.arange(20) * 20.0
    val = (steps, make.healthy_loss(20, noise=0.005))
    well = by_traindx(make.run({"train/loss": make.healthy_loss(400), "val/loss": val}))
    assert well == {"traindx, health": [], "traindx, findings": []}


def test_rows_name_what_there_is() -> None:
    assert {peer.source for peer in PEERS} == {
        "runmedic", "runmedic, own", "trainproof", "traindx, health", "traindx, findings"
    }  # fmt: skip
    assert len({peer.name for peer in PEERS}) == len(PEERS)
