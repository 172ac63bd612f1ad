"""Histories in one JSON document."""

from __future__ import annotations

import json

import pytest

from tests.readers.sources import LOGS, assert_values, memory, oracle, source
from traindx.errors import NotALog
from traindx.readers.formats import json_document
from traindx.readers.raw import RawLog


def read(value: object) -> RawLog:
    return json_document.read(memory(json.dumps(value)))[0]


def test_a_keras_history() -> None:
    logged = oracle("keras")["plain"][0]
    log = json_document.read(source(LOGS / "keras" / "history.json"))[0]
    for name, values in logged.items():
        assert_values(log.columns[name], values)
    assert (log.framework, log.axis_kind) == ("keras", "epoch")


def test_lists_of_another_length_are_placed_at_the_end_of_their_stretch() -> None:
    log = read({"train": {"loss": [6.0, 5, 4, 3, 2, 1]}, "val": {"loss": [5.0, 2.0]}, "lr": 0.5})
    assert log.columns["val/loss"].rows.tolist() == [2, 5]
    assert log.facts == {"lr": 0.5}


@pytest.mark.parametrize(
    "wrap", [lambda r: r, lambda r: {"epochs": 3, "history": r}, lambda r: {"run": {"log": r}}]
)
def test_records_wherever_they_are(wrap: object) -> None:
    records = [{"step": i, "loss": 2.5 - i, "metrics": {"acc": i / 4}} for i in range(3)]
    log = read(wrap(records))  # type: ignore[operator]
    assert_values(log.columns["loss"], [2.5, 1.5, 0.5])
    assert_values(log.columns["metrics/acc"], [0, 0.25, 0.5])


def test_a_download_of_tensorboard() -> None:
    log = read([[1.7e9 + i, 10 * i, 0.5 / (i + 1)] for i in range(3)])
    column = log.columns["value"]
    assert column.steps is not None
    assert column.steps.tolist() == [0, 10, 20]
    assert_values(column, [0.5, 0.25, 0.5 / 3])


def test_a_cut_document_keeps_what_is_whole() -> None:
    log = json_document.read(memory('{"loss": [3, 2, 1], "val_loss": [4, 3, 2.5'))[0]
    assert_values(log.columns["loss"], [3, 2, 1])
    assert_values(log.columns["val_loss"], [4, 3])
    assert log.events[0].kind == "parse-warning"


@pytest.mark.parametrize(
    "text", ["", "{}", "[]", "17", '{"name": "x"}', "{" * 9000, "[" * 9000, '{"a": ' * 9000]
)
def test_refusals(text: str) -> None:
    with pytest.raises(NotALog):
        json_document.read(memory(text))


def test_scores_over_thresholds_are_no_log_of_a_run() -> None:
    scores = [0.5 + 0.04 * i for i in range(9)]
    with pytest.raises(NotALog, match="its lists go over taus"):
        read({"taus": [i / 10 for i in range(9)], "f1": scores})
    assert read({"tau": [0.9, 0.8, 0.95, 0.7, 0.9, 0.8, 0.9, 0.7, 0.9], "f1": scores}).columns
