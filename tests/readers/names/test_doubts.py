"""Columns whose role is unsure: what they are read as, and that the page says so."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

import traindx
from tests.cli import process

FALLS = [3.0 * 0.9**i + 0.01 * (i % 3) for i in range(40)]
RISES = [0.9 - 0.8 * 0.9**i for i in range(40)]
SAID = "is read from"


def table(folder: Path, columns: Mapping[str, Sequence[float]], counter: str = "epoch") -> Path:
    cells = zip(*columns.values(), strict=True)
    rows = [f"{i},{','.join(f'{cell:.4f}' for cell in row)}" for i, row in enumerate(cells)]
    path = folder / "log.csv"
    path.write_text("\n".join([",".join([counter, *columns]), *rows, ""]))
    return path


@pytest.mark.parametrize("sides", [("train", "val"), ("Train", "Test"), ("training", "validation")])
def test_sides_alone_are_losses_or_scores_by_their_values(sides: tuple[str, str], tmp_path: Path) -> None:
    (run,) = traindx.read_all(table(tmp_path, dict.fromkeys(sides, FALLS)))
    assert set(run.series) == {"train/loss", "val/loss"}
    (run,) = traindx.read_all(table(tmp_path, dict.fromkeys(sides, RISES)))
    assert set(run.series) == {"train/score", "val/score"}


def test_sides_next_to_a_loss_are_scores_or_keep_their_names(tmp_path: Path) -> None:
    (run,) = traindx.read_all(table(tmp_path, {"loss": FALLS, "train": RISES, "val": RISES}))
    assert {"train/loss", "train/score", "val/score"} == set(run.series)
    (run,) = traindx.read_all(table(tmp_path, {"loss": FALLS, "train": FALLS, "val": FALLS}))
    assert {"train/loss", "train", "val"} == set(run.series)


def test_the_time_of_a_trial_is_no_time_of_a_step(tmp_path: Path) -> None:
    columns = {"loss": FALLS, "time": [5.0, 6.0] * 20}
    (run,) = traindx.read_all(table(tmp_path, columns, "trial_step"))
    assert "time/step" not in run.series
    (run,) = traindx.read_all(table(tmp_path, columns, "step"))
    assert "time/step" in run.series


def test_the_page_says_which_column_it_took_for_the_loss(tmp_path: Path) -> None:
    path = table(tmp_path, {"box_loss": FALLS, "recall": RISES})
    page = process.traindx("diagnose", path, cwd=tmp_path).out
    assert f'train/loss {SAID} "box_loss"' in page
    assert "--map train/loss=NAME" in page
    mapped = process.traindx("diagnose", path, "--map", "train/loss=box_loss", cwd=tmp_path).out
    assert "train/loss" in mapped
    assert SAID not in mapped


@pytest.mark.parametrize("name", ["loss", "train_mse", "Cross Entropy", "multi_logloss", "cost"])
def test_a_column_that_says_it_is_a_loss_needs_no_word(name: str, tmp_path: Path) -> None:
    page = process.traindx("diagnose", table(tmp_path, {name: FALLS, "recall": RISES}), cwd=tmp_path).out
    assert SAID not in page


def test_a_number_without_a_name_is_named_so(tmp_path: Path) -> None:
    (tmp_path / "train.log").write_text("".join(f"epoch {i}: {v:.4f}\n" for i, v in enumerate(FALLS)))
    page = process.traindx("diagnose", tmp_path / "train.log", cwd=tmp_path).out
    assert f"train/loss {SAID} numbers without a name" in page


def test_a_score_that_falls_while_the_accuracy_rises_is_a_loss(tmp_path: Path) -> None:
    assert "train/loss" in traindx.read(table(tmp_path, {"score": FALLS, "accuracy": RISES})).series
    assert "train/score" in traindx.read(table(tmp_path, {"score": RISES, "accuracy": RISES})).series
    assert "train/score" in traindx.read(table(tmp_path, {"score": FALLS, "accuracy": FALLS})).series


def test_errors_below_zero_that_rise_and_settle_are_log_likelihoods(tmp_path: Path) -> None:
    likely = [-2.8 - 5.0 * 0.9**i for i in range(60)]
    path = table(tmp_path, {"train_err": likely, "test_err": [v - 0.03 for v in likely]}, "iter")
    page = process.traindx("diagnose", path, cwd=tmp_path).out
    assert "HEALTHY" in page
    assert "which are below 0 and rise; if that is wrong" in " ".join(page.split())


@pytest.mark.parametrize(
    "losses",
    [
        [-1.0 - 2.0 * (1 - 0.8**i) if i < 20 else -3.0 + 0.05 * (i - 20) for i in range(60)],  # diverges
        [-8.0 + 0.002 * i**2 for i in range(60)],  # rises faster and faster
        [-2.8 - 5.0 * (1 - 0.9**i) for i in range(60)],  # a density that falls as a loss should
    ],
)
def test_other_losses_below_zero_stay_losses(losses: list[float], tmp_path: Path) -> None:
    (run,) = traindx.read_all(
        table(tmp_path, {"train_loss": losses, "val_loss": [v - 0.03 for v in losses]})
    )
    assert {"train/loss", "val/loss"} <= set(run.series)
