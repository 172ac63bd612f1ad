"""What must not be said of a log because something else in it speaks against that, each with a log where it holds."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tests.requirements.logs import NOISE, by_slug, said, said_of_table, said_of_text

T = np.arange(200)
RISING = 0.2 + 0.02 * T + 0.02 * NOISE
LEARNING = 1 - 0.5 * np.exp(-T / 60)


def test_a_loss_that_rises_while_accuracy_improves_may_have_other_weights(tmp_path: Path) -> None:
    weighted = said_of_table(tmp_path, train_loss=RISING, train_accuracy=LEARNING)
    assert by_slug(weighted)["loss-diverges"].severity == "low"
    assert "although train/accuracy improved" in by_slug(weighted)["loss-diverges"].message
    assert weighted.health in ("watch", "healthy")
    lost = said_of_table(tmp_path, train_loss=RISING, train_accuracy=1.5 - LEARNING)
    assert by_slug(lost)["loss-diverges"].severity == "critical"
    level = said_of_table(tmp_path, train_loss=RISING, train_accuracy=0.8 + 0.01 * NOISE)
    assert level.health == "failed"


def test_a_term_that_is_faded_in_early_is_no_divergence(tmp_path: Path) -> None:
    loss = np.where(T < 10, 0.05, 0.4 * np.exp(-T / 120)) + 0.002 * NOISE
    assert "loss-diverges" not in by_slug(said_of_table(tmp_path, train_loss=loss, train_accuracy=LEARNING))
    unlearned = said_of_table(tmp_path, train_loss=loss, train_accuracy=0.5 + 0.01 * NOISE)
    assert "loss-diverges" in by_slug(unlearned)


def test_a_loss_that_only_rises_is_not_called_flat_as_well(tmp_path: Path) -> None:
    worse = by_slug(
        said(tmp_path, "epoch", loss=[0.27, 0.24, 0.242, 0.245, 0.249, 0.284, 0.285, 0.29, 0.307, 0.323])
    )
    assert "loss-diverges" in worse
    assert "loss-flat-from-start" not in worse
    still = by_slug(said(tmp_path, "epoch", loss=0.27 + 0.0005 * np.sin(7.0 * np.arange(10))))
    assert "loss-flat-from-start" in still


def table(folder: Path, column: str) -> set[str]:
    """The rules with a finding on a table of 30 rows with a loss and an accuracy in no order."""
    rows = [f"{i},{0.35 + 0.003 * NOISE[i]:.4f},{0.77 + 0.01 * NOISE[-i]:.4f}" for i in range(1, 31)]
    return set(by_slug(said_of_text(folder, "\n".join([f"{column},train_loss,val_accuracy", *rows]))))


def test_a_row_for_each_fold_is_no_curve(tmp_path: Path) -> None:
    assert "loss-flat-from-start" not in table(tmp_path, "fold")
    assert "loss-flat-from-start" in table(tmp_path, "batch")


def test_one_answer_to_every_sample_names_the_number_of_classes(tmp_path: Path) -> None:
    loss, scatter = 1.76 + 0.02 * np.cos(np.arange(8)), 0.004 * np.sin(5.0 * np.arange(8))
    guesses = said(
        tmp_path, "epoch", 1, train_loss=loss, train_accuracy=0.2 + scatter, val_accuracy=[0.2] * 8
    )
    assert "loss-at-chance" in by_slug(guesses)
    learns = said(
        tmp_path, "epoch", 1, train_loss=loss, train_accuracy=0.35 + scatter, val_accuracy=[0.2] * 8
    )
    assert "loss-at-chance" not in by_slug(learns)


def test_a_score_of_zero_on_validation_data_alone_is_no_guess(tmp_path: Path) -> None:
    loss, zero = 2.0 * np.exp(-T / 20), np.zeros(T.size)
    apart = said_of_table(tmp_path, train_loss=loss, train_accuracy=LEARNING, val_accuracy=zero, val_f1=zero)
    assert "loss-at-chance" not in by_slug(apart)
    share = 0.9 + 0.001 * NOISE
    rare = said_of_table(tmp_path, train_loss=loss, train_accuracy=share, val_accuracy=share, val_f1=zero)
    assert "every sample gets the most frequent class" in by_slug(rare)["loss-at-chance"].message


def test_dates_of_headers_are_no_values(tmp_path: Path) -> None:
    headers = [f"== Training Loss (Mon Nov {d:2} 14:0{d % 10}:54 2018) ==" for d in (5, 5, 12, 12, 12, 12)]
    lines = [f"epoch {i} loss {2.0 / (i + 1):.4f}" for i in range(30)]
    run = said_of_text(tmp_path, "\n".join([*headers, *lines]))
    assert {s.name for s in run.run.signals if "loss" in s.name} == {"train/loss"}


def test_what_a_model_writes_is_no_complaint(tmp_path: Path) -> None:
    step = "step {i} loss {loss:.4f}\n"
    answer = "How many apples are left? The total remains the same, so the answer does not change with {i} more.\n"
    lines = [step.format(i=i, loss=2.0 / (i + 1)) for i in range(150)]
    chat = [line + answer.replace("apples", "apples " + "so " * (i % 150)) for i, line in enumerate(lines)]
    assert not [f for f in said_of_text(tmp_path, "".join(chat)).findings if "question" in f.message]
    asked = "Why does my loss not go down? It remains the same.\n" + "".join(
        step.format(i=i, loss=2.3) for i in range(40)
    )
    assert by_slug(said_of_text(tmp_path, asked))["loss-flat-from-start"]
