"""Questions that have words and hardly a number: what their author says is wrong is said back, and nothing is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.requirements.logs import by_slug, said_of_text

WORDS = [
    ("loss-not-finite", "NaN after some epochs\nI started the training. After certain epochs I am getting loss NaN. Why?"),
    ("loss-not-finite", "My model gets NaN\nI use lr=0.1. After two epochs I am getting loss NaN. Why?"),
    ("gradient-norm-explodes", "Exploding gradients\nI see exploding gradients when I train my RNN. What can I do?"),
    ("loss-flat-from-start", "My models don't train\nI have tried three rates and the loss does not decrease. Any idea?"),
    ("loss-jumps-on-resume", "After resuming from a checkpoint the loss jumps a lot. Is something wrong with my code?"),
    ("memory-grows", "The memory keeps growing while I train my model. How can I find the leak?"),
]  # fmt: skip


@pytest.mark.parametrize(("slug", "text"), WORDS)
def test_what_an_author_says_is_a_finding(tmp_path: Path, slug: str, text: str) -> None:
    run = said_of_text(tmp_path, text + "\n")
    assert slug in by_slug(run)
    assert "by the question" in by_slug(run)[slug].message
    lost = slug == "loss-not-finite"  # nothing more can come of such a run
    assert run.decision.action == ("stop" if lost else "inspect")
    assert run.health in (("failed",) if lost else ("watch", "sick"))


def test_rows_that_show_the_opposite_count_more_than_words(tmp_path: Path) -> None:
    rows = "\n".join(f"epoch {i} loss {2.0 * 0.8**i:.4f} val_loss {2.1 * 0.82**i:.4f}" for i in range(12))
    run = said_of_text(tmp_path, "I think that my loss does not decrease. What is wrong?\n\n" + rows)
    assert "loss-flat-from-start" not in by_slug(run)


def test_norms_that_are_not_finite_are_named_where_each_step_was_skipped(tmp_path: Path) -> None:
    line = (
        "2021-04-23 19:22:{:02d} (trainer:581) WARNING: The grad norm is nan. Skipping updating the model.\n"
    )
    run = said_of_text(tmp_path, "".join(line.format(i) for i in range(8)))
    assert "gradient-not-finite" in by_slug(run)


def test_two_skipped_steps_are_a_loss_scale_that_adjusts(tmp_path: Path) -> None:
    rows = "".join(f"step {i} loss {2.0 * 0.9**i:.4f}\n" for i in range(30))
    run = said_of_text(
        tmp_path, "Gradient overflow. Skipping step, loss scaler reducing loss scale to 32768.0\n" + rows
    )
    assert "gradient-not-finite" not in by_slug(run)


def test_a_record_with_an_infinite_loss_is_a_record(tmp_path: Path) -> None:
    line = "[Epoch 6 {}/128][Iteration {}] Train 16 in 4.38 seconds, 3.65 a second. Loss is {}. Rate is 0.046.\n"
    losses = ["1.2645", "1.3089", "Infinity", "1.2483", "1.2511"]
    run = said_of_text(tmp_path, "".join(line.format(16 * i, i, x) for i, x in enumerate(losses, 1)))
    assert "at 1 of 5 points (first at step 3)" in by_slug(run)["loss-not-finite"].message


def test_bars_of_which_the_end_is_left_are_epochs_though_the_last_is_cut(tmp_path: Path) -> None:
    row = "Epoch {}/9\n4160/4160 - loss: {:.4f} - acc: {:.4f} - val_loss: {:.4f}"
    rows = [
        row.format(i, 3.0 * 0.8**i, 1 - 0.8**i, 2.0 * 0.8**i) + " - val_acc: 0.5" * (i < 9)
        for i in range(1, 10)
    ]
    run = said_of_text(tmp_path, "\n".join(rows))
    assert run.run.axis == "epoch"
    assert run.run.steps == 9
