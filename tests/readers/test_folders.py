"""Folders: runs of one tool, and collections of unrelated logs."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from traindx.errors import NotALog, ReadError
from traindx.readers import read_all

LOGS = Path(__file__).parents[1] / "logs"


def test_a_folder_of_unrelated_logs_is_read_file_by_file(tmp_path: Path) -> None:
    """A W&B file among them must not claim the folder for itself."""
    picked = [
        *sorted((LOGS / "text").glob("*.log"))[:6],
        *sorted((LOGS / "wandb").rglob("*.wandb"))[:1],
        LOGS / "hf_trainer" / "healthy" / "trainer_state.json",
    ]
    for file in picked:
        shutil.copy(file, tmp_path / file.name)
    alone = {file.name for file in picked if any(r.series for r in read_quietly(file))}
    together = {Path(run.source).name for run in read_all([tmp_path])}
    assert len(alone) >= 6
    assert together == alone


def read_quietly(file: Path) -> tuple:
    try:
        return read_all([file])
    except ReadError:
        return ()


def test_checkpoints_of_one_run_are_one_run() -> None:
    runs = read_all([LOGS / "hf_trainer" / "healthy"])
    assert len(runs) == 1


def test_a_tree_of_runs(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "metrics.csv").write_text(
            "step,loss\n" + "\n".join(f"{i},{3 - i / 50}" for i in range(40))
        )
    (tmp_path / "notes.txt").write_text("no numbers here\n")
    runs = read_all([tmp_path])
    assert [Path(r.source).parent.name for r in runs] == ["a", "b"]


def test_a_folder_without_logs(tmp_path: Path) -> None:
    (tmp_path / "readme.md").write_text("nothing\n")
    with pytest.raises(NotALog, match="no training log"):
        read_all([tmp_path])


def test_a_glob_that_the_shell_did_not_expand(tmp_path: Path) -> None:
    for name in ("x.csv", "y.csv"):
        (tmp_path / name).write_text("step,loss\n" + "\n".join(f"{i},{3 - i / 50}" for i in range(40)))
    assert len(read_all([str(tmp_path / "*.csv")])) == 2
