"""MLflow's two stores against what was logged to them."""

from __future__ import annotations

import gzip
import sqlite3
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.readers.sources import LOGS, assert_values, memory, oracle, source
from traindx.errors import NotALog, ReadError
from traindx.readers.formats import mlflow
from traindx.readers.raw import RawLog

STORE = LOGS / "mlflow" / "mlflow.db.gz"


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "mlflow.db"
    path.write_bytes(gzip.decompress(STORE.read_bytes()))
    return path


def assert_logged(log: RawLog, rows: list[list[Any]]) -> None:
    assert_values(log.columns["train/loss"], [loss for _, loss, _ in rows])
    column = log.columns["val_loss"]
    assert_values(column, [check for _, _, check in rows if check is not None])
    assert column.steps is not None
    assert column.steps.tolist() == [step for step, _, check in rows if check is not None]


def test_the_folder_store() -> None:
    logs = mlflow.read_folder(LOGS / "mlflow" / "mlruns")
    logged = oracle("mlflow")["files"]
    assert len(logs) == len(logged)
    for log in logs:
        assert_logged(log, logged["good" if log.facts["lr"] == 0.5 else "diverged"])
        assert log.facts["optimizer"] == "sgd"
        assert log.complete is True


@pytest.mark.parametrize("kind", ["file", "compressed", "piped"])
def test_the_database(database: Path, kind: str) -> None:
    opened = {"file": source(database), "compressed": source(STORE), "piped": memory(database.read_bytes())}[
        kind
    ]
    assert mlflow.sniff(opened) > 0.9
    logged = oracle("mlflow")["database"]
    logs = mlflow.read(opened)
    assert [log.source.rsplit("#", 1)[1] for log in logs] == ["good", "diverged"]
    for log, rows in zip(logs, logged.values(), strict=True):
        assert_logged(log, rows)


def test_a_database_that_is_locked_is_read_from_a_copy_and_left_alone(database: Path) -> None:
    before = database.read_bytes()
    holder = sqlite3.connect(database)
    holder.execute("BEGIN EXCLUSIVE")
    try:
        assert len(mlflow.read(source(database))) == 2
    finally:
        holder.rollback()
        holder.close()
    assert database.read_bytes() == before
    assert [p.name for p in database.parent.iterdir()] == ["mlflow.db"]


def test_nan_and_infinity_as_the_database_writes_them(database: Path) -> None:
    store = sqlite3.connect(database)
    (run,) = store.execute("SELECT run_uuid FROM runs WHERE name = 'good'").fetchone()
    store.executemany(
        "INSERT INTO metrics (key, value, timestamp, run_uuid, step, is_nan) VALUES ('x', ?, ?, ?, ?, ?)",
        [
            (0.0, 1, run, 0, 1),
            (1.7976931348623157e308, 2, run, 1, 0),
            (-1.7976931348623157e308, 3, run, 2, 0),
        ],
    )
    store.commit()
    store.close()
    assert_values(mlflow.read(source(database))[0].columns["x"], [np.nan, np.inf, -np.inf])


def write(folder: Path, lines: str, status: int = 3) -> Path:
    (folder / "metrics").mkdir(parents=True)
    (folder / "meta.yaml").write_text(f"run_id: a\nlifecycle_stage: active\nstatus: {status}\n")
    (folder / "metrics" / "loss").write_text(lines)
    return folder


def test_lines_out_of_order_and_damaged(tmp_path: Path) -> None:
    (log,) = mlflow.read_folder(write(tmp_path / "run", "3000 1.0 2\n1000 3.0 0\n2000 2.0 1\n4000 oops 3\n"))
    assert_values(log.columns["loss"], [3, 2, 1])
    assert log.columns["loss"].times is not None
    assert log.columns["loss"].times.tolist() == [1, 2, 3]
    assert log.events[0].kind == "parse-warning"


def test_values_logged_without_steps_keep_their_order(tmp_path: Path) -> None:
    (log,) = mlflow.read_folder(write(tmp_path / "run", "1000 3.0 0\n2000 2.0 0\n3000 1.0 0\n"))
    column = log.columns["loss"]
    assert column.steps is not None
    assert column.steps.tolist() == [0, 1, 2]
    assert log.axis_kind == "row"


@pytest.mark.parametrize(("status", "kind"), [(4, "crash"), (5, "stopped")])
def test_a_run_that_broke_off_says_so(tmp_path: Path, status: int, kind: str) -> None:
    (log,) = mlflow.read_folder(write(tmp_path / "run", "1000 3.0 0\n", status))
    assert [event.kind for event in log.events] == [kind]


def test_a_database_of_something_else_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    store = sqlite3.connect(path)
    store.execute("CREATE TABLE t (x)")
    store.commit()
    store.close()
    with pytest.raises(NotALog, match="MLflow's tables"):
        mlflow.read(source(path))


def test_a_damaged_database_is_refused(database: Path) -> None:
    with pytest.raises(ReadError):
        mlflow.read(memory(database.read_bytes()[:3000]))


def test_a_point_without_a_time_has_no_place() -> None:
    nan = float("nan")
    points = {"loss": [(1000.0, 2.0, 1.0), (nan, 1.5, 2.0), (3000.0, 1.0, 3.0)], "lost": [(nan, 1.0, 1.0)]}
    log = mlflow.run_log("made", points, {}, "FINISHED")
    assert log.columns["loss"].values.tolist() == [2.0, 1.0]
    assert set(log.columns) == {"loss"}
