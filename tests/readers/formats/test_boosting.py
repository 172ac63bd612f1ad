"""Boosting logs against what the libraries returned."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.readers.sources import LOGS, assert_values, memory, oracle, source
from traindx.errors import NotALog
from traindx.readers.formats import boosting

LOGGED = oracle("boosting")
INFO = LOGS / "catboost" / "catboost_info"


@pytest.mark.parametrize("library", ["xgboost", "lightgbm"])
def test_rounds_are_the_evals_result(library: str) -> None:
    log = boosting.read(source(LOGS / "boosting" / f"{library}_evals_result.json"))[0]
    for group, metrics in LOGGED[library].items():
        for metric, values in metrics.items():
            assert_values(log.columns[f"{group}/{metric}"], values)


def test_the_first_error_of_the_training_set_is_the_loss() -> None:
    log = boosting.read(source(LOGS / "boosting" / "lightgbm_evals_result.json"))[0]
    assert log.roles["training/binary_logloss"] == "train/loss"
    assert log.roles["valid_1/binary_logloss"] == "val/loss"
    assert log.roles["valid_1/auc"] == "val/auc"
    unnamed = boosting.read(source(LOGS / "boosting" / "xgboost_evals_result.json"))[0]
    assert unnamed.roles["validation_0/logloss"] == "train/loss"
    assert unnamed.roles["validation_1/logloss"] == "val/loss"


@pytest.mark.parametrize("without", [(), ("catboost_training.json",)])
def test_a_catboost_folder(tmp_path: Path, without: tuple[str, ...]) -> None:
    for file in INFO.iterdir():
        if file.name not in without:
            (tmp_path / file.name).write_bytes(file.read_bytes())
    (log,) = boosting.read_folder(tmp_path)
    logged = LOGGED["catboost"]
    assert_values(log.columns["learn/Logloss"], logged["learn"]["Logloss"], rtol=1e-8)
    assert_values(log.columns["test/Logloss"], logged["validation"]["Logloss"], rtol=1e-8)
    assert_values(log.columns["test/AUC"], logged["validation"]["AUC"], rtol=1e-8)
    assert log.roles["test/Logloss"] == "val/loss"


def test_several_test_sets() -> None:
    text = (
        '{"meta": {"learn_metrics": [{"name": "RMSE"}], "test_metrics": [{"name": "RMSE"}]}, "iterations": ['
        '{"learn": [3], "iteration": 0, "test": [[4], [5]]}, {"learn": [2], "iteration": 1, "test": [[3], [4]]}]}'
    )
    log = boosting.read(memory(text))[0]
    assert_values(log.columns["test/RMSE"], [4, 3])
    assert_values(log.columns["test1/RMSE"], [5, 4])


def test_times_left_are_no_metric() -> None:
    with pytest.raises(NotALog, match="only times"):
        boosting.read(source(INFO / "time_left.tsv"))


def test_only_its_own_documents_are_claimed() -> None:
    assert boosting.sniff(source(LOGS / "keras" / "history.json")) == 0.0
    assert boosting.sniff(memory('{"train": {"loss": [1, 2]}}')) == 0.0
