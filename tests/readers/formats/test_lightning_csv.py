"""metrics.csv against what Lightning gave its logger."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.readers.sources import LOGS, assert_values, memory, oracle, source
from traindx.readers.formats import lightning_csv
from traindx.readers.raw import RawLog

FOLDER = LOGS / "lightning_csv"
NAMES = ("train_loss_step", "train_loss_epoch", "val_loss", "val_acc", "lr-Adam")


def steps_of(log: RawLog, name: str) -> list[float]:
    step = log.columns["step"]
    return step.values[np.searchsorted(step.rows, log.columns[name].rows)].tolist()


@pytest.mark.parametrize("version", ["version_0", "version_1"])
def test_sparse_columns_are_what_the_logger_was_given(version: str) -> None:
    logged = oracle("lightning_csv")[version]
    log = lightning_csv.read(source(FOLDER / version / "metrics.csv"))[0]
    for name in NAMES:
        assert_values(log.columns[name], [row[name] for row in logged if name in row], rtol=1e-7)
        assert steps_of(log, name) == [row["step"] for row in logged if name in row]
    assert log.facts == {"lr": 0.02, "batch_size": 32.0, "optimizer": "adam"}


def test_a_version_that_goes_on_is_the_same_run() -> None:
    logged = oracle("lightning_csv")
    (log,) = lightning_csv.read_folder(FOLDER)
    both = [row for version in ("version_0", "version_1") for row in logged[version]]
    for name in NAMES:
        assert_values(log.columns[name], [row[name] for row in both if name in row], rtol=1e-7)
        assert steps_of(log, name) == [row["step"] for row in both if name in row]
    assert [event.kind for event in log.events] == ["resume"]


def test_a_version_that_starts_again_is_another_run(tmp_path: Path) -> None:
    for version in range(2):
        folder = tmp_path / f"version_{version}"
        folder.mkdir()
        folder.joinpath("metrics.csv").write_bytes((FOLDER / "version_0" / "metrics.csv").read_bytes())
    assert len(lightning_csv.read_folder(tmp_path)) == 2


def test_versions_are_taken_by_number(tmp_path: Path) -> None:
    for version in (2, 10):
        folder = tmp_path / f"version_{version}"
        folder.mkdir()
        folder.joinpath("metrics.csv").write_text(f"epoch,step,x_step\n0,0,{version}\n0,1,{version}\n")
    assert [log.columns["x_step"].values[0] for log in lightning_csv.read_folder(tmp_path)] == [2, 10]


def test_an_empty_version_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "version_0").mkdir()
    (tmp_path / "version_0" / "metrics.csv").touch()
    assert lightning_csv.read_folder(tmp_path) == []


def test_folders_and_tables_of_others_are_not_claimed(tmp_path: Path) -> None:
    assert lightning_csv.sniff_folder(FOLDER) > 0.5
    assert lightning_csv.sniff_folder(LOGS / "sb3") == 0.0
    assert lightning_csv.sniff_folder(tmp_path) == 0.0
    assert lightning_csv.sniff(memory("epoch,loss\n0,1\n")) == 0.0
