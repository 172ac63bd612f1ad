"""Bars of `model.evaluate` before and after a training."""

from __future__ import annotations

import pytest

from tests.readers.sources import assert_values, memory
from traindx.readers.formats import text

BAR = "[==============================]"


def fit(*losses: float) -> list[str]:
    lines = []
    for i, loss in enumerate(losses, 1):
        lines += [
            f"Epoch {i}/{len(losses)}",
            f"100/100 {BAR} - 3s 5ms/step - loss: {loss} - val_loss: {loss + 1}",
        ]
    return lines


def evaluate(loss: float, batches: int = 32) -> str:
    return f"{batches}/{batches} {BAR} - 0s 3ms/step - loss: {loss}"


@pytest.mark.parametrize(
    ("before", "after"),
    [([], [evaluate(7.0)]), ([], [evaluate(7.0), evaluate(8.0, 31)]), ([evaluate(9.0)], [evaluate(7.0)])],
)
def test_an_evaluation_is_no_epoch(before: list[str], after: list[str]) -> None:
    log = text.read(memory("\n".join([*before, *fit(4.0, 3.0, 2.0), *after, ""])))[0]
    assert_values(log.columns["loss"], [4, 3, 2])
    assert_values(log.columns["val_loss"], [5, 4, 3])


def test_two_bars_of_every_epoch_are_kept() -> None:
    lines = [f"Epoch {i}/3\n100/100 {BAR} loss: {4 - i}\n{evaluate(9 - i)}" for i in (1, 2, 3)]
    log = text.read(memory("\n".join([*lines, ""])))[0]
    assert 6.0 in log.columns["loss"].values


def test_a_cut_first_epoch_is_kept() -> None:
    log = text.read(memory("\n".join([*fit(4.0, 3.0, 2.0)[1:], ""])))[0]
    assert_values(log.columns["loss"], [4, 3, 2])
