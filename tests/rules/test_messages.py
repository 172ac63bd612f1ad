"""How a rule's message is put into words."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from tests import make
from traindx import pipeline
from traindx.rules.findings import fill_message, in_one_style, with_module_word


@pytest.mark.parametrize(
    ("template", "value", "words"),
    [
        ("it jumped {x} times", 1, "it jumped 1 time"),
        ("it jumped {x} times", 21, "it jumped 21 times"),
        ("{x:.1f} times as long", 3.1, "3.1 times as long"),
        ("within {x:.0f} points", 1.0, "within 1 point"),
        ("{x:.0f} times", 1328343813385.0, "1.3e+12 times"),
        ("{x:.0f} times", 26438.0, "26438 times"),
        ("by {x:.0%}", 2834481423678.97, "by 2.8e+14%"),
        ("by {x:.0%}", 71.85, "by 7185%"),
        ("by {x:.0f}", float("inf"), "by inf"),
        ("to {x:.4g}", 9.944e23, "to 9.944e+23"),
        ("{x}", "rank-1 steps", "rank-1 steps"),
    ],
)
def test_numbers_are_readable_and_one_is_no_plural(template: str, value: object, words: str) -> None:
    assert fill_message(template, {"x": value}) == words


def test_a_place_is_given_in_units_of_the_log_and_a_wobbling_low_is_no_best(tmp_path: Path) -> None:
    epoch = np.arange(40)
    wobble = np.where(epoch == 18, -0.03, 0.0)  # one value below the turn of the curve
    rows = np.stack(
        [
            epoch,
            0.2 + 2 * np.exp(-epoch / 6),
            0.5 + 2 * np.exp(-epoch / 4) + 0.03 * np.maximum(epoch - 14, 0) + wobble,
        ]
    ).T
    log = tmp_path / "log.csv"
    np.savetxt(log, rows, "%.5f", ",", header="epoch,loss,val_loss", comments="")
    diagnosis = pipeline.diagnose(pipeline.read_all(log)).document.runs[0]
    message = next(f.message for f in diagnosis.findings if f.slug == "validation-gap-grows")
    place = re.search(r" from \S+ (at|around) epoch (\d+) ", message)
    assert place, message
    lowest = int(np.argmin(rows[:, 2]))
    assert (place[1] == "at") == (int(place[2]) == lowest)
    assert not any(re.search(r"\bstep \d", f.message) for f in diagnosis.findings)


@pytest.mark.parametrize(
    ("family", "where", "words"),
    [
        ("ACT", "2", "module 2"), ("WGT", "0.1, 4", "modules 0.1, 4"), ("ACT", "head.2", "head.2"), ("DAT", "2", "2"),
    ],
)  # fmt: skip
def test_a_module_that_has_a_number_only_is_called_a_module(family: str, where: str, words: str) -> None:
    assert (
        fill_message("values of {where}", with_module_word(family, {"where": where})) == f"values of {words}"
    )


def test_a_training_score_that_stays_does_not_go_from_a_value_to_the_same(tmp_path: Path) -> None:
    epoch = np.arange(40)
    falls = 0.8 - 0.3 * np.exp(-epoch / 3) - np.maximum(epoch - 15, 0) * 0.006
    for last, words in ((1.0, "train/accuracy stayed at 1"), (0.99, "train/accuracy fell from 1 to 0.99")):
        train = np.where(epoch == 39, last, 1.0)
        lines = [f"{e},{t},{v:.4f}" for e, t, v in zip(epoch, train, falls, strict=True)]
        (tmp_path / "log.csv").write_text("\n".join(["epoch,train_acc,val_acc", *lines]))
        diagnosis = pipeline.diagnose(pipeline.read(tmp_path / "log.csv"))
        (grows,) = [f for f in diagnosis.first.findings if f.slug == "validation-gap-grows"]
        assert words in grows.message


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ("level since step 57344000, 30% of the run", "level since epoch 57,344,000, 30 % of the run"),
        ("skipped from step 1000 to 20000 were", "skipped from epoch 1,000 to 20,000 were"),
        ("fell to -2e-08 at step 999", "fell to -2e-8 at epoch 999"),
        ("lr1e-05/loss is 3e+06 at step 2.25", "lr1e-05/loss is 3e6 at epoch 2.25"),
        ("the file 50%_data.csv", "the file 50%_data.csv"),
    ],
)
def test_numbers_of_a_message_look_as_on_the_rest_of_the_page(message: str, shown: str) -> None:
    assert in_one_style(message, "epoch") == shown


@pytest.mark.parametrize(("end", "expects"), [(0.3, False), (1.7, True), (-1.4, True)])
def test_a_loss_is_not_expected_below_what_it_can_be(end: float, expects: bool) -> None:
    """From 2.0 in a straight line: the same time again would end at 2 x `end` - 2.0. A loss that was below 0 already,
    such as that of a density, may go on."""
    run = make.run({"train/loss": np.linspace(2.0, end, 200)})
    found = [f for f in pipeline.diagnose(run).first.findings if f.slug == "loss-still-falling-at-end"]
    assert [("expect about" in f.message) for f in found] == [expects]
