"""OpenMMLab's JSON logs: the iteration of every row, in any way of counting."""

from __future__ import annotations

import numpy as np
import pytest

from tests.readers.sources import LOGS, assert_values, oracle, source
from traindx.readers.formats import mmengine_json
from traindx.readers.raw import RawLog


def iterations(log: RawLog, name: str) -> list[float]:
    axis = log.columns[mmengine_json.STEP]
    return axis.values[np.searchsorted(axis.rows, log.columns[name].rows)].tolist()


@pytest.mark.parametrize("name", ["by_epoch", "by_iter"])
def test_runner_rows_are_at_the_iteration_they_were_logged(name: str) -> None:
    logged = oracle(f"mmengine_{name}")
    log = mmengine_json.read(source(LOGS / "mmengine" / f"{name}.json"))[0]
    assert_values(log.columns["loss"], [row["loss"] for row in logged if "loss" in row])
    assert iterations(log, "loss") == [row["given_step"] for row in logged if "loss" in row]
    assert_values(
        log.columns["val/toy/accuracy"], [row["toy/accuracy"] for row in logged if "toy/accuracy" in row]
    )


def test_evaluations_by_epoch_do_not_jump_back_to_the_start() -> None:
    log = mmengine_json.read(source(LOGS / "mmengine" / "by_epoch.json"))[0]
    assert iterations(log, "val/toy/accuracy") == [15, 31, 47, 63]


def test_mmcv_counts_over_epochs_and_parts_the_modes() -> None:
    rows = oracle("plain_loops")["runs"][0]
    log = mmengine_json.read(source(LOGS / "mmcv" / "20250101_000000.log.json"))[0]
    logged = rows[4::5]
    assert_values(log.columns["loss"], [row["loss"] for row in logged])
    assert iterations(log, "loss") == [row["iteration"] + 1 for row in logged]
    assert_values(log.columns["val/bbox_mAP"], [row["val_acc"] for row in rows[19::20]])
    assert iterations(log, "val/loss") == [20, 40, 60]
    assert log.facts == {"seed": 0}


def test_only_its_own_lines_are_claimed() -> None:
    assert mmengine_json.sniff(source(LOGS / "mmcv" / "20250101_000000.log.json")) > 0.9
    assert mmengine_json.sniff(source(LOGS / "detectron2" / "metrics.json")) == 0.0
    assert mmengine_json.sniff(source(LOGS / "jsonl" / "log.txt")) == 0.0
