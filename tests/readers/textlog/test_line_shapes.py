"""Line shapes that nobody has sent yet: drawn from a grammar, written with known numbers, and read back."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

import traindx
from benchmarks.line_shapes import INSIDE, Shape, draw, misread, written
from traindx.errors import ReadError
from traindx.vocabulary.run import Run

LOSSES = [f"{3.0 * 0.9**i + 0.01 * (i % 3):.4f}" for i in range(20)]
PLAIN = Shape("inside", "step", "{c} {n}", ("train loss",), ": ", ", ", "", "", 4, 0, 0, "utf-8")


def read(folder: Path, text: str | bytes, name: str = "train.log") -> Run:
    (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    (run,) = traindx.read_all(folder / name)
    return run


def assert_losses(run: Run, name: str = "train/loss") -> None:
    assert run.series[name].values.tolist() == [float(loss) for loss in LOSSES]


@pytest.mark.parametrize("form", INSIDE)
@pytest.mark.parametrize("name", ["Loss", "discriminator loss", "val_loss"])
def test_a_counter_between_the_name_and_the_value(form: str, name: str) -> None:
    shape = PLAIN._replace(inside=form, metrics=(name,))
    text, values, steps = written(shape, random.Random(0))
    assert misread(text.encode(), values, steps) == ""


def test_shapes_drawn_by_chance_are_read_back() -> None:
    wrong = []
    for number in range(300):
        rng = random.Random(f"tests-{number}")
        shape = draw(rng)
        text, values, steps = written(shape, rng)
        if misread(text.encode(shape.encoding), values, steps):
            wrong.append(shape)
    assert len(wrong) <= 12, wrong  # 2 to 3 % of 5,000 when this was written


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("轮次 {i}，损失：{v}，准确率：0.5", "train/loss"),
        ("Epoche {i} Verlust: {v}", "train/loss"),
        ("эпоха #{i} | потери = {v}", "train/loss"),
        ("[1,0]<stdout>:epoch {i} loss {v}", "train/loss"),
        ("INFO:root:[{i}/24] • loss: {v}", "train/loss"),
        ("[rank0]: [{i}/24] loss: {v}", "train/loss"),
        ("<epoch={i}> loss....: {v}", "train/loss"),
        ("epoch {i} loss: ~{v}", "train/loss"),
        ("At episode {i}, loss = {v}", "train/loss"),
    ],
)
def test_marks_tags_and_words_of_other_languages(line: str, name: str, tmp_path: Path) -> None:
    run = read(tmp_path, "\n".join(line.format(i=i + 1, v=loss) for i, loss in enumerate(LOSSES)))
    assert_losses(run, name)
    assert run.series[name].steps[-1] == 20


def test_a_word_that_only_contains_a_foreign_one_keeps_its_name(tmp_path: Path) -> None:
    run = read(tmp_path, "\n".join(f"step {i} timezeit: 0.5 loss: {loss}" for i, loss in enumerate(LOSSES)))
    assert_losses(run)
    assert "timezeit" in run.series


def test_a_path_behind_a_tilde_is_no_value(tmp_path: Path) -> None:
    lines = [f"saving to ~/run{i}\nepoch {i} loss {loss}" for i, loss in enumerate(LOSSES)]
    run = read(tmp_path, "\n".join(lines))
    assert_losses(run)
    assert set(run.series) == {"train/loss"}


def test_times_in_brackets_end_the_rows_of_a_table(tmp_path: Path) -> None:
    rows = [f"{i:<9} {loss}    {loss}    (00:{i + 10})" for i, loss in enumerate(LOSSES)]
    assert_losses(read(tmp_path, "\n".join(["epoch     train_loss  valid_loss  time", *rows])), "val/loss")


def test_a_table_with_heavy_lines_around_its_headings(tmp_path: Path) -> None:
    head = ["┏━━━━━━━┳━━━━━━━━┓", "┃ Epoch ┃ Loss   ┃", "┡━━━━━━━╇━━━━━━━━┩"]
    rows = [f"│ {i:<5} │ {loss} │" for i, loss in enumerate(LOSSES)]
    assert_losses(read(tmp_path, "\n".join([*head, *rows, "└───────┴────────┘"])))


def test_box_characters_of_another_encoding_before_the_log(tmp_path: Path) -> None:
    summary = ("═" * 60 + "\n║ Model ║\n") * 60
    log = "".join(f"epoch {i} loss {loss}\n" for i, loss in enumerate(LOSSES))
    assert_losses(read(tmp_path, summary.encode("cp437") + log.encode()))


def test_the_file_of_one_mlflow_metric(tmp_path: Path) -> None:
    lines = [f"{1628697792090 + 1000 * i} {loss} {5 * i}" for i, loss in enumerate(LOSSES)]
    run = read(tmp_path, "\n".join(lines) + "\n", "train_loss")
    assert_losses(run)
    assert run.series["train/loss"].steps[-1] == 95


@pytest.mark.parametrize("form", ["train_loss = [{}]", "TRAIN_LOSS:[{}]", "'train_loss': [{}],"])
def test_a_history_in_one_line(form: str, tmp_path: Path) -> None:
    assert_losses(read(tmp_path, f"Done.\n{form.format(', '.join(LOSSES))}\n"))


def test_a_history_that_is_printed_as_it_grows(tmp_path: Path) -> None:
    lines = [f"train_loss = [{', '.join(LOSSES[:n])}]" for n in range(3, 21)]
    assert_losses(read(tmp_path, "\n".join(lines)))


def test_lists_of_classes_are_no_history(tmp_path: Path) -> None:
    lines = [f"IoU: [0.{i}, 0.{i + 20}, 0.{i + 40}]" for i in range(10, 30)]
    with pytest.raises(ReadError):
        read(tmp_path, "\n".join(lines))
    losses = "\n".join(f"epoch {i} loss {loss}" for i, loss in enumerate(LOSSES))
    run = read(tmp_path, f"{losses}\naccuracy: [0.5, 0.7, 0.2]\n")
    assert_losses(run)
    assert set(run.series) == {"train/loss"}


def test_numbers_behind_a_hash_are_outputs_not_steps(tmp_path: Path) -> None:
    lines = [f"Iteration {i * 20}, Train net output #0: loss = {loss}" for i, loss in enumerate(LOSSES)]
    run = read(tmp_path, "\n".join(lines))
    (series,) = run.series.values()
    assert np.array_equal(series.steps, np.arange(20) * 20.0)


def test_validate_is_a_word_for_validation(tmp_path: Path) -> None:
    lines = [f"epoch {i} Train Loss: 0.5{i} Validate Loss: {loss}" for i, loss in enumerate(LOSSES)]
    assert_losses(read(tmp_path, "\n".join(lines)), "val/loss")


def test_three_numbers_between_slashes_hold_no_count_of_batches(tmp_path: Path) -> None:
    line = "[2023-01-01 10:00:00,123 INFO] Step {}/100000; acc: 34.0; xent: {}; bsz: 4000/3800/120; 8020/9021 tok/s;"
    run = read(tmp_path, "\n".join(line.format(100 * i + 100, loss) for i, loss in enumerate(LOSSES)))
    assert_losses(run)
    assert run.series["train/loss"].steps.tolist() == [100.0 * i + 100 for i in range(20)]


UNNAMED = [
    "epoch 0, batch {i}: {v}",
    "Step {i} - {v}",
    "[{i}] {v}",
    "({i}, {v})",
    "May 01 12:00:{i:02d} node7 python[812]: iteration={i} {v}",
]


@pytest.mark.parametrize("line", UNNAMED)
def test_a_value_that_no_name_precedes_is_the_loss(line: str, tmp_path: Path) -> None:
    text = "\n".join(line.format(i=i + 1, v=loss) for i, loss in enumerate(LOSSES))
    run = read(tmp_path, f"Loading data from ./data\n{text}\n")
    assert_losses(run)
    assert run.series["train/loss"].steps[-1] == 20


def test_a_value_without_a_name_is_no_loss_next_to_one_that_has_it(tmp_path: Path) -> None:
    lines = [f"epoch {i} loss {loss}\nepoch {i}: {0.5 + i}" for i, loss in enumerate(LOSSES)]
    run = read(tmp_path, "\n".join(lines))
    assert_losses(run)


@pytest.mark.parametrize("line", ["Step {i}: {v} s", "Step {i}: {v} GB", "Copied part {i} of 20: {v}"])
def test_a_number_with_a_unit_or_behind_words_needs_a_name(line: str, tmp_path: Path) -> None:
    with pytest.raises(ReadError):
        read(tmp_path, "\n".join(line.format(i=i + 1, v=loss) for i, loss in enumerate(LOSSES)))


@pytest.mark.parametrize(
    "line",
    [
        "Loss at epoch 0 and iteration {i} is {v}",
        "The loss of step {i} was {v}",
        "After {i} steps the loss is {v}",
    ],
)
def test_a_sentence_with_a_counter(line: str, tmp_path: Path) -> None:
    run = read(tmp_path, "\n".join(line.format(i=i + 1, v=loss) for i, loss in enumerate(LOSSES)))
    assert_losses(run)
    assert run.series["train/loss"].steps[-1] == 20


def test_a_pair_behind_a_name_belongs_to_it(tmp_path: Path) -> None:
    lines = [f"Loss [3, {100 * i}](epoch, minibatch):  {loss}" for i, loss in enumerate(LOSSES)]
    assert_losses(read(tmp_path, "\n".join(lines)))


def test_a_boxed_table_of_two_columns(tmp_path: Path) -> None:
    rows = [f"|  {i}  | {loss} |" for i, loss in enumerate(LOSSES)]
    assert_losses(
        read(tmp_path, "\n".join(["+---+---+", "| Epoch | Loss |", "+---+---+", *rows, "+---+---+"]))
    )


def test_the_first_of_a_list_in_a_cell_is_the_total(tmp_path: Path) -> None:
    rows = [f"|  {i}  | [{loss}, 0.2] | 0.{i + 10} |" for i, loss in enumerate(LOSSES)]
    assert_losses(read(tmp_path, "\n".join(["| Epoch | Loss | recall |", "+---+---+---+", *rows])))


def test_headings_of_two_words_above_columns_set_by_blanks(tmp_path: Path) -> None:
    rows = [f"{i} {loss} {loss} 0.5" for i, loss in enumerate(LOSSES)]
    run = read(tmp_path, "\n".join(["epoch train loss valid loss f2", *rows]))
    assert_losses(run)
    assert_losses(run, "val/loss")


HEADED = "Epoch {i}\n{train}\nloss: {v} acc: 0.5{i}\n{val}\nloss: {w} acc: 0.4{i}\n"


@pytest.mark.parametrize(
    ("train", "val"),
    [("Training:", "Validation:"), ("--- Train ---", "--- Val ---"), ("[train]", "[test]")],
)
def test_lines_below_the_heading_of_a_side_belong_to_it(train: str, val: str, tmp_path: Path) -> None:
    lines = [
        HEADED.format(i=i, v=loss, w=float(loss) + 1, train=train, val=val) for i, loss in enumerate(LOSSES)
    ]
    run = read(tmp_path, "".join(lines))
    assert_losses(run)
    assert np.allclose(run.series["val/loss"].values, [float(loss) + 1 for loss in LOSSES])
    assert len(run.series["val/accuracy"]) == len(LOSSES)


def test_what_is_done_heads_no_numbers(tmp_path: Path) -> None:
    lines = [f"epoch {i} loss {loss}\nEvaluating...\nValidation:\n" for i, loss in enumerate(LOSSES)]
    run = read(tmp_path, "".join(lines))
    assert_losses(run)
    assert set(run.series) == {"train/loss"}


def test_bare_numbers_under_a_line_of_words_are_a_loss(tmp_path: Path) -> None:
    text = "Loading data from ./data\n" + "".join(f"{i + 1} {loss}\n" for i, loss in enumerate(LOSSES))
    assert_losses(read(tmp_path, text))
