"""metrics.json: one file, several trainings, evaluations between the rows."""

from __future__ import annotations

from tests.readers.sources import LOGS, assert_values, oracle, source
from traindx.readers.formats import detectron2_json


def test_rows_and_evaluations() -> None:
    runs = oracle("plain_loops")["runs"]
    log = detectron2_json.read(source(LOGS / "detectron2" / "metrics.json"))[0]
    rows = [row for run in runs for row in run[19::20]]
    assert_values(log.columns["total_loss"], [row["loss"] for row in rows])
    assert_values(log.columns["bbox/AP"], [100 * row["val_acc"] for row in rows])
    assert log.columns["iteration"].values[::2].tolist() == [row["iteration"] for row in rows]


def test_a_fresh_training_below_the_old_one_is_a_boundary() -> None:
    log = detectron2_json.read(source(LOGS / "detectron2" / "metrics.json"))[0]
    assert log.boundaries == [6]


def test_nan_of_empty_classes_is_kept_without_complaint() -> None:
    log = detectron2_json.read(source(LOGS / "detectron2" / "metrics.json"))[0]
    assert log.events == []
    assert_values(log.columns["bbox/AP-rare"], [float("nan")] * 7)


def test_only_its_own_lines_are_claimed() -> None:
    assert detectron2_json.sniff(source(LOGS / "detectron2" / "metrics.json")) > 0.9
    assert detectron2_json.sniff(source(LOGS / "jsonl" / "settings_first.jsonl")) == 0.0
