"""YOLO's tables in their three forms."""

from __future__ import annotations

import numpy as np
import pytest

from tests.readers.sources import LOGS, assert_values, memory, oracle, source
from traindx.errors import NotALog
from traindx.readers.formats import yolo_csv

ROWS = oracle("plain_loops")["runs"][0][9::10]


@pytest.mark.parametrize(
    ("name", "first"), [("results_v5.csv", 0), ("results_v8.csv", 1), ("results.txt", 0)]
)
def test_losses_by_epoch(name: str, first: int) -> None:
    log = yolo_csv.read(source(LOGS / "yolo" / name))[0]
    assert_values(log.columns["train/box_loss"], [row["loss"] for row in ROWS], rtol=1e-3, atol=1e-5)
    assert_values(log.columns["val/box_loss"], [row["val_loss"] for row in ROWS], rtol=1e-3, atol=1e-5)
    assert log.columns["epoch"].values.tolist() == [first + i for i in range(len(ROWS))]
    assert log.axis == "epoch"
    assert log.facts["batch_size"] == 16
    assert log.facts["planned_epochs"] == 6


def test_metrics_are_of_the_validation_set() -> None:
    log = yolo_csv.read(source(LOGS / "yolo" / "results_v8.csv"))[0]
    assert log.roles["metrics/mAP50(B)"] == "val/mAP50(B)"


def test_words_for_nan_in_the_old_form() -> None:
    log = yolo_csv.read(source(LOGS / "yolo" / "results.txt"))[0]
    assert np.isnan(log.columns["val/cls_loss"].values).all()
    assert log.units == {"gpu_mem": "GiB"}


def test_a_damaged_old_line_is_reported() -> None:
    text = (LOGS / "yolo" / "results.txt").read_text()
    log = yolo_csv.read(memory(text + "      6/5     1.05G   0.0"))[0]
    assert len(log.columns["epoch"].values) == len(ROWS)
    assert log.events[0].kind == "parse-warning"


def test_only_its_own_tables_are_claimed() -> None:
    assert yolo_csv.sniff(source(LOGS / "keras" / "plain.csv")) == 0.0
    assert yolo_csv.sniff(memory("")) == 0.0
    with pytest.raises(NotALog):
        yolo_csv.read(memory("prose\n"))
