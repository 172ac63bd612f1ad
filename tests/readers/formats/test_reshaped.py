"""Histories in the shapes of pandas, of records keyed by a number, and of one named number a row."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import traindx
from tests.readers.sources import assert_values, memory
from traindx.errors import NotALog
from traindx.readers.formats import csv_table, json_document
from traindx.readers.raw import RawLog

LOSS = [2.0, 1.5, 1.2, 1.1]
VAL = [2.1, 1.7, 1.5, 1.4]


def read(value: object) -> RawLog:
    return json_document.read(memory(json.dumps(value)))[0]


@pytest.mark.parametrize(
    "value",
    [
        {"train_loss": dict(enumerate(LOSS)), "val_loss": dict(enumerate(VAL))},
        {"columns": ["train_loss", "val_loss"], "data": list(zip(LOSS, VAL, strict=True))},
        {str(i): {"train_loss": a, "val_loss": b} for i, (a, b) in enumerate(zip(LOSS, VAL, strict=True))},
        {f"epoch_{i}": {"train_loss": a, "val_loss": b} for i, (a, b) in enumerate(zip(LOSS, VAL, strict=True))},
        {"log": [{"step": i, "name": n, "value": v[i]} for n, v in (("train_loss", LOSS), ("val_loss", VAL))
                 for i in range(4)]},
    ],
)  # fmt: skip
def test_each_shape_holds_the_same_columns(value: object) -> None:
    assert json_document.sniff(memory(json.dumps(value))) > 0
    log = read(value)
    assert_values(log.columns["train_loss"], LOSS)
    assert_values(log.columns["val_loss"], VAL)


def test_the_number_in_a_key_is_the_axis_where_its_word_says_so() -> None:
    log = read({f"epoch {10 * i}": {"train": {"loss": value}} for i, value in enumerate(LOSS)})
    assert_values(log.columns["epoch"], [0, 10, 20, 30])
    assert_values(log.columns["train/loss"], LOSS)


def test_scores_of_models_are_no_log() -> None:
    with pytest.raises(NotALog, match="single numbers for each of 3 names"):
        read({name: {"accuracy": 0.9, "loss": 0.3} for name in ("small", "base", "large")})


def test_a_bare_list_needs_a_name_of_its_file(tmp_path: Any) -> None:
    (tmp_path / "val_loss.json").write_text(json.dumps(LOSS * 3))
    assert traindx.read(tmp_path / "val_loss.json").series["val/loss"].values.tolist() == LOSS * 3
    with pytest.raises(NotALog):
        read(LOSS)


def test_a_long_table_has_a_column_for_each_name() -> None:
    by_epoch = [f"{i},{name},{v[i]}" for i in range(4) for name, v in (("loss", LOSS), ("kl", VAL))]
    for rows in (by_epoch, sorted(by_epoch, key=lambda row: row.split(",")[1])):
        log = csv_table.read(memory("\n".join(["Epoch,Loss,Value", *rows, ""])))[0]
        assert log.axis == "Epoch"
        assert_values(log.columns["Epoch"], [0, 1, 2, 3])
        assert_values(log.columns["loss"], LOSS)
        assert_values(log.columns["kl"], VAL)


def test_names_that_come_twice_for_an_epoch_are_left_alone() -> None:
    rows = [f"{i},{name},{LOSS[i]}" for _ in range(2) for i in range(4) for name in ("a", "b")]
    assert "Value" in csv_table.read(memory("\n".join(["Epoch,Model,Value", *rows, ""])))[0].columns


def test_the_sum_of_unnamed_columns_is_the_loss(tmp_path: Any) -> None:
    rng = np.random.default_rng(0)
    parts = np.exp(-np.arange(60) / 10)[:, None] * [1.0, 0.4] + rng.normal(0, 0.002, (60, 2))
    text = "\n".join(f"{a + b:.6f},{a:.6f},{b:.6f}" for a, b in parts)
    for name, found in (("loss.csv", True), ("points.csv", False)):
        (tmp_path / name).write_text(text + "\n")
        run = traindx.read(tmp_path / name)
        assert (run.originals.get("train/loss") == "c0") is found


def exported_rows(runs: list[str], names: list[str]) -> str:
    """The download of MLflow's page of a metric."""
    rows = [
        f'"{run}","{hash(run):x}","{n}","{10 * i}","17618841{i}","{v}"'
        for run in runs
        for n in names
        for i, v in enumerate(LOSS)
    ]
    return "\n".join(['"Run","Run ID","metric","step","timestamp","value"', *rows, ""])


def test_an_export_of_one_metric_is_named_by_its_cells() -> None:
    (log,) = csv_table.read(memory(exported_rows(["blue-hen-12"], ["loss"])))
    assert_values(log.columns["loss"], LOSS)
    assert (log.axis, set(log.columns)) == ("step", {"step", "loss"})


def test_an_export_of_several_runs_is_as_many_logs() -> None:
    logs = csv_table.read(memory(exported_rows(["blue-hen-12", "red-fox-3"], ["loss", "kl"])))
    assert [log.source.rpartition(": ")[2] for log in logs] == ["blue-hen-12", "red-fox-3"]
    for log in logs:
        assert_values(log.columns["kl"], LOSS)


def test_one_word_in_all_rows_is_no_name_without_a_heading_that_says_so() -> None:
    rows = [f"{i},resnet,{v}" for i, v in enumerate(LOSS)]
    assert "value" in csv_table.read(memory("\n".join(["epoch,model,value", *rows, ""])))[0].columns


def test_the_second_of_two_columns_without_names_may_be_the_counter() -> None:
    text = "".join(f"{1.02 * 0.9**i:.6f} {100 * i}\n" for i in range(30))
    assert csv_table.read(memory(text))[0].axis == "c1"
    both_move = "".join(f"{1.02 * 0.9**i:.6f} {0.1 * i * i:.3f}\n" for i in range(30))
    assert csv_table.read(memory(both_move))[0].axis is None
