"""Values without a name: what they are is read from their shape, and the page says so."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.requirements.logs import NOISE, by_slug, said_of_text
from traindx import pipeline
from traindx.vocabulary.diagnosis import RunDiagnosis

AT = np.arange(100)
FALLS = 0.3 + 2.0 * np.exp(-AT / 25) + 0.01 * NOISE[:100]
RETURNS = 900 * (1 - np.exp(-AT / 30)) + 40 + 15 * NOISE[:100]
SHARE = 0.5 * (1 - np.exp(-AT / 20)) + 0.004 * NOISE[:100] ** 2


def column(values: np.ndarray, counted: bool) -> str:
    return "\n".join(f"{i} {v:.4f}" if counted else f"{v:.4f}" for i, v in enumerate(values, 1))


def downloaded(folder: Path, values: np.ndarray) -> RunDiagnosis:
    """The diagnosis of what TensorBoard's page writes when a curve is downloaded."""
    rows = "\n".join(f"{1.69e9 + 60 * i},{i * 100},{v}" for i, v in enumerate(values))
    (folder / "run.csv").write_text("Wall time,Step,Value\n" + rows)
    return pipeline.diagnose(pipeline.read_all(folder / "run.csv")).first


@pytest.mark.parametrize("values", [RETURNS, SHARE], ids=["returns", "share"])
def test_what_rises_and_settles_is_a_score(tmp_path: Path, values: np.ndarray) -> None:
    for run in (said_of_text(tmp_path, column(values, counted=True)), downloaded(tmp_path, values)):
        assert run.health == "healthy"
        assert any("train/score" in signal.name for signal in run.run.signals)


@pytest.mark.parametrize("counted", [True, False])
def test_what_falls_is_a_loss(tmp_path: Path, counted: bool) -> None:
    run = said_of_text(tmp_path, column(FALLS, counted))
    assert run.health == "healthy"
    assert any(signal.name == "train/loss" for signal in run.run.signals)


def test_what_explodes_is_a_loss_that_diverges(tmp_path: Path) -> None:
    run = said_of_text(tmp_path, column(0.5 * np.exp(AT / 10) * (1 + 0.05 * NOISE[:100]), counted=True))
    assert "loss-diverges" in by_slug(run)


def test_a_bare_list_that_falls_is_read(tmp_path: Path) -> None:
    (tmp_path / "numbers.json").write_text(json.dumps(list(FALLS)))
    run = pipeline.diagnose(pipeline.read_all(tmp_path / "numbers.json")).first
    assert run.health == "healthy"
    assert any("--map" in event["message"] for event in run.run.events)


PANDAS = """Training took 20 s
       loss  accuracy  val_loss  val_accuracy
0  0.6931    0.5112    0.6801        0.5500
1  0.5512    0.7012    0.5201        0.7412
2  0.4012    0.8112    0.4501        0.7912
"""
COMMAS = """Total params: 1200
,loss,accuracy,val_loss,val_accuracy
0,0.6931,0.5112,0.6801,0.5500
1,0.5512,0.7012,0.5201,0.7412
2,0.4012,0.8112,0.4501,0.7912
"""


@pytest.mark.parametrize("text", [PANDAS, COMMAS], ids=["blanks", "commas"])
def test_a_printed_data_frame_has_an_index_without_a_name(tmp_path: Path, text: str) -> None:
    (tmp_path / "train.log").write_text(text)
    (run,) = pipeline.read_all(tmp_path / "train.log")
    assert list(run.series["train/loss"].values) == [0.6931, 0.5512, 0.4012]
    assert list(run.series["val/accuracy"].values) == [0.55, 0.7412, 0.7912]
    assert list(run.series["val/loss"].steps) == [0, 1, 2]


@pytest.mark.parametrize("before", ["", "2022-05-09 19:29:18,641 - ", "[10:00:05] INFO: "])
def test_the_only_number_that_counts_nothing_is_the_loss(tmp_path: Path, before: str) -> None:
    diagnosis = said_of_text(
        tmp_path, "\n".join(f"{before}{i // 10}\t{i % 10}\t{v:.4f}" for i, v in enumerate(FALLS))
    )
    assert {"train/loss"} <= {signal.name for signal in diagnosis.run.signals}
    assert any("without a name (c2)" in str(event["message"]) for event in diagnosis.run.events)


@pytest.mark.parametrize(
    "row",
    ["{i}\t{two}\t{v}\t{v}", "{i}\t{class_}\t{v}", "{i}\t{two}\t0.{class_}"],
    ids=["two", "items", "level"],
)
def test_two_fractions_or_none_that_falls_are_no_loss(tmp_path: Path, row: str) -> None:
    numbers = np.random.default_rng(1).integers(0, 10, 100)
    lines = (
        row.format(i=i // 10, two=i % 10, class_=c, v=f"{v:.4f}")
        for i, (v, c) in enumerate(zip(FALLS, numbers, strict=True))
    )
    assert not any("loss" in signal.name for signal in said_of_text(tmp_path, "\n".join(lines)).run.signals)
