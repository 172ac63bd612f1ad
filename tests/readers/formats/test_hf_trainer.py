"""trainer_state.json against what the Trainer gave its callbacks."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from tests.readers.sources import LOGS, assert_values, memory, oracle, source
from traindx.errors import NotALog, ReadError
from traindx.readers.formats import hf_trainer

HEALTHY = LOGS / "hf_trainer" / "healthy"
DIVERGED = LOGS / "hf_trainer" / "diverged"


@pytest.mark.parametrize(
    ("folder", "logged"), [(HEALTHY, "hf_trainer_healthy"), (DIVERGED, "hf_trainer_diverged")]
)
def test_series_are_what_the_trainer_logged(folder: Path, logged: str) -> None:
    rows = oracle(logged)
    log = hf_trainer.read(source(folder / "trainer_state.json"))[0]
    for name in ("loss", "grad_norm", "learning_rate", "eval_loss", "eval_accuracy"):
        assert_values(log.columns[name], [float(row[name]) for row in rows if name in row])
        at = log.columns["step"].values[np.searchsorted(log.columns["step"].rows, log.columns[name].rows)]
        assert at.tolist() == [row["step"] for row in rows if name in row]
    assert log.axis == "step"


def test_the_summary_is_facts_and_no_series() -> None:
    log = hf_trainer.read(source(HEALTHY / "trainer_state.json"))[0]
    assert not {"train_loss", "train_runtime", "total_flos"} & set(log.columns)
    assert log.facts["train_loss"] == oracle("hf_trainer_healthy")[-1]["train_loss"]
    assert log.facts["planned_steps"] == 64
    assert log.facts["planned_epochs"] == 4
    assert log.complete is True


def test_a_folder_of_checkpoints_is_one_history(tmp_path: Path) -> None:
    whole = hf_trainer.read_folder(HEALTHY)
    assert len(whole) == 1
    shutil.copytree(HEALTHY, tmp_path / "run")
    (tmp_path / "run" / "trainer_state.json").unlink()
    checkpoints = hf_trainer.read_folder(tmp_path / "run")
    assert len(checkpoints) == 1
    for name, column in checkpoints[0].columns.items():
        assert_values(whole[0].columns[name], column.values)


def test_a_checkpoint_left_from_another_run_is_a_log_of_its_own(tmp_path: Path) -> None:
    shutil.copytree(HEALTHY, tmp_path / "run")
    shutil.copytree(DIVERGED / "checkpoint-32", tmp_path / "run" / "checkpoint-900")
    assert len(hf_trainer.read_folder(tmp_path / "run")) == 2


def test_a_damaged_state_keeps_the_records_on_both_sides() -> None:
    text = (HEALTHY / "trainer_state.json").read_text()
    middle = text.index('"step": 32')
    log = hf_trainer.read(memory(text[:middle] + "\0garbage{" + text[middle + 9 :]))[0]
    kept = log.columns["step"].values
    assert kept.min() == 4
    assert kept.max() == 64
    assert log.events[0].kind == "parse-warning"


def test_a_cut_state_keeps_what_is_whole() -> None:
    text = (HEALTHY / "trainer_state.json").read_text()
    log = hf_trainer.read(memory(text[: text.index('"step": 32')]))[0]
    assert log.columns["step"].values.max() == 28
    assert log.events[0].kind == "parse-warning"


def test_numbers_as_text() -> None:
    state = {
        "best_metric": None,
        "global_step": 20,
        "log_history": [{"loss": "1.5", "learning_rate": "1e-05", "step": 10}],
    }
    log = hf_trainer.read(memory(json.dumps(state)))[0]
    assert_values(log.columns["loss"], [1.5])


def test_a_state_without_history_is_refused() -> None:
    with pytest.raises(NotALog, match="empty"):
        hf_trainer.read(memory('{"log_history": [], "global_step": 0, "best_metric": null}'))


def test_a_folder_of_broken_states_is_refused(tmp_path: Path) -> None:
    (tmp_path / "trainer_state.json").write_bytes(b"\0\1\2")
    with pytest.raises(ReadError):
        hf_trainer.read_folder(tmp_path)


def test_only_states_are_claimed() -> None:
    assert hf_trainer.sniff(source(HEALTHY / "trainer_state.json")) == 1.0
    assert hf_trainer.sniff(source(LOGS / "keras" / "history.json")) == 0.0


def test_a_state_that_is_a_list_keeps_its_damaged_history() -> None:
    rows = '{"step": 1, "loss": 2.0}, {"step": 2, "loss": 1.5}, {"step" 3, "loss": 1.2}'
    text = f'[{{"log_history": [{rows}]}}, {{"global_step": 3}}]'
    assert hf_trainer.read(memory(text.encode()))[0].columns["loss"].values.tolist()[:2] == [2.0, 1.5]
