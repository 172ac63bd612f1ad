"""metrics.json against what was logged to Sacred."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.readers.sources import LOGS, assert_values, memory, oracle, source
from traindx.errors import NotALog
from traindx.readers.formats import sacred

RUN = LOGS / "sacred" / "1"


def test_metrics_are_what_was_logged() -> None:
    (log,) = sacred.read_folder(RUN)
    for name, points in oracle("sacred").items():
        column = log.columns[name]
        assert_values(column, [value for _, value in points])
        assert column.steps is not None
        assert column.steps.tolist() == [step for step, _ in points]


def test_settings_and_ending_come_from_the_files_next_to_it() -> None:
    log = sacred.read(source(RUN / "metrics.json"))[0]
    assert log.facts["lr"] == 0.3
    assert log.facts["optimizer"] == "sgd"
    assert log.complete is True


def test_numpy_scalars_as_jsonpickle_writes_them() -> None:
    metrics = {
        "loss": {
            "steps": [1, 2],
            "timestamps": [],
            "values": [{"py/object": "numpy.float32", "value": 0.5}, 0.25],
        }
    }
    assert_values(sacred.read(memory(json.dumps(metrics)))[0].columns["loss"], [0.5, 0.25])


@pytest.mark.parametrize(("status", "kind"), [("FAILED", "crash"), ("INTERRUPTED", "stopped")])
def test_a_run_that_broke_off_says_so(tmp_path: Path, status: str, kind: str) -> None:
    (tmp_path / "metrics.json").write_bytes((RUN / "metrics.json").read_bytes())
    (tmp_path / "run.json").write_text(json.dumps({"status": status}))
    (log,) = sacred.read_folder(tmp_path)
    assert [event.kind for event in log.events] == [kind]


def test_a_status_that_is_no_word_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "metrics.json").write_bytes((RUN / "metrics.json").read_bytes())
    (tmp_path / "run.json").write_text(json.dumps({"status": {"FAILED": [1]}}))
    (log,) = sacred.read_folder(tmp_path)
    assert not log.events
    assert log.complete is None


def test_nothing_logged_is_refused() -> None:
    with pytest.raises(NotALog):
        sacred.read(memory("{}"))
