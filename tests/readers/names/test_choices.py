"""Which of several columns is the loss, and what is no measure of the run."""

from __future__ import annotations

import numpy as np

from traindx.readers.names.roles import assign
from traindx.readers.raw import RawLog, column


def log(**values: object) -> RawLog:
    columns = {name: column(v, range(len(v))) for name, v in values.items()}  # type: ignore[arg-type]
    return RawLog("memory", "csv", columns=columns)


def test_losses_of_all_steps_come_before_the_means_of_a_few_epochs() -> None:
    falling = np.exp(-np.arange(90) / 30)
    assert assign(log(loss=falling, train_loss=[1.0, 0.6, 0.3]), {})["train/loss"] == "loss"
    assert assign(log(loss=falling, train_loss=falling[::4]), {})["train/loss"] == "train_loss"


def test_an_error_of_another_size_is_not_the_other_side_of_the_loss() -> None:
    falling = np.exp(-np.arange(30) / 10)
    far = assign(log(train_loss=3 * falling, val_mse=50 * falling), {})
    near = assign(log(train_loss=3 * falling, val_mse=4 * falling), {})
    assert (far["val/mse"], near["val/loss"]) == ("val_mse", "val_mse")


def test_planned_epochs_are_no_epochs() -> None:
    assert "epoch" not in assign(log(total_epochs=[40.0] * 5, train_loss=[5.0, 4, 3, 2, 1]), {})


def test_a_header_in_portuguese() -> None:
    chosen = assign(log(**{"Perda de treino": [3.0, 2, 1], "Perda de validação": [3.0, 2, 1]}), {})
    assert chosen == {"train/loss": "Perda de treino", "val/loss": "Perda de validação"}


def test_a_bare_evaluation_that_rises_between_0_and_1_is_a_score() -> None:
    falling = 2.3 * np.exp(-np.arange(10) / 3)
    rises = assign(log(loss=falling, eval=1 - falling / 2.6), {})
    falls = assign(log(loss=falling, eval=1.1 * falling), {})
    assert (rises["val/score"], falls["val/loss"]) == ("eval", "eval")


def test_sides_in_percent_that_rise_are_scores() -> None:
    rising = 95 - 60 * np.exp(-np.arange(20) / 8)
    held = log(Train=rising, Val=rising - 3)
    assert assign(held, {}) == {"train/loss": "Train", "val/loss": "Val"}
    held.units = {"Train": "%", "Val": "%"}
    assert assign(held, {}) == {"train/score": "Train", "val/score": "Val"}


def test_a_cross_entropy_comes_before_the_errors_next_to_it() -> None:
    falling = np.exp(-np.arange(20) / 8)
    chosen = assign(log(trn_ce=falling, trn_err=60 * falling, val_ce=falling, val_err=61 * falling), {})
    assert (chosen["train/loss"], chosen["val/loss"]) == ("trn_ce", "val_ce")


def test_the_mean_of_an_epoch_is_no_evaluation() -> None:
    falling = np.exp(-np.arange(60) / 20)
    assert "val/loss" not in assign(log(loss=falling, **{"mean epoch loss": falling[5::10]}), {})
