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


def severities(folder: Path, slug: str, **columns: object) -> list[str]:
    """The severities of a rule's findings on a table."""
    return [f.severity for f in said_of_table(folder, **columns).findings if f.slug == slug]


def test_the_rise_of_a_part_is_a_note_while_the_whole_improves(tmp_path: Path) -> None:
    t = np.arange(40)
    falling, rising = 0.5 * np.exp(-t / 15), 0.01 + 0.0002 * np.maximum(t - 15, 0)
    parts = {"train_obj_loss": 0.02 * np.exp(-t / 30), "val_obj_loss": rising}
    whole = {"train_loss": falling, "val_loss": 1.1 * falling}
    assert severities(tmp_path, "validation-gap-grows", **whole, **parts) == ["info"]
    worse = {"train_loss": falling, "val_loss": 0.3 + 0.01 * np.abs(t - 15)}
    assert severities(tmp_path, "validation-gap-grows", **worse, **parts)[0] in ("medium", "high")


EARLY_BEST = [
    0.687,
    0.672,
    0.638,
    0.586,
    0.547,
    0.521,
    0.535,
    0.538,
    0.528,
    0.532,
    0.541,
    0.546,
    0.569,
    0.564,
    0.577,
    0.586,
]


def test_training_on_after_the_best_validation_loss_is_advised_against(tmp_path: Path) -> None:
    falls, level = np.linspace(0.68, 0.18, 16), [0.56, 0.57, 0.6, 0.7, 0.75, *[0.76] * 11]
    past = said(tmp_path, "epoch", loss=falls, val_loss=EARLY_BEST, val_accuracy=level)
    assert past.decision.action == "stop"
    assert "lowest at epoch 5 (0.521)" in past.decision.reason
    better = said(
        tmp_path, "epoch", loss=falls, val_loss=EARLY_BEST, val_accuracy=np.linspace(0.56, 0.95, 16)
    )
    assert better.decision.action == "continue"


def test_a_rise_in_order_is_seen_in_few_evaluations(tmp_path: Path) -> None:
    falls = np.linspace(1.5, 1.16, 10)
    worse = [1.488, 1.367, 1.326, 1.37, 1.361, 1.434, 1.441, 1.481, 1.508, 1.486]
    assert "validation-gap-grows" in by_slug(said(tmp_path, "epoch", loss=falls, val_loss=worse))
    mixed = [1.488, 1.367, 1.326, 1.37, 1.441, 1.361, 1.434, 1.361, 1.41, 1.36]
    assert "validation-gap-grows" not in by_slug(said(tmp_path, "epoch", loss=falls, val_loss=mixed))


def test_a_validation_loss_that_stops_while_training_halves_is_a_gap(tmp_path: Path) -> None:
    t = np.arange(30)
    train, level = 4.0 * np.exp(-t / 20), 2.7 + 1.7 * np.exp(-t / 4) + 0.03 * NOISE[:30]
    assert severities(tmp_path, "validation-gap-grows", train_loss=train, val_loss=level) == ["low"]
    slow = 4.0 * np.exp(-t / 60)
    assert not severities(tmp_path, "validation-gap-grows", train_loss=slow, val_loss=level)


def test_evaluations_that_jump_are_a_note(tmp_path: Path) -> None:
    falls = 0.6 * np.exp(-np.arange(10) / 8)
    jumps = [0.61, 0.96, 0.39, 0.33, 0.92, 0.25, 0.43, 0.16, 0.17, 0.29]
    noted = by_slug(said(tmp_path, "epoch", loss=falls, val_loss=jumps))
    assert noted["loss-oscillates"].severity == "info"
    assert "rises by a quarter or more 4 times" in noted["loss-oscillates"].message
    assert "loss-oscillates" not in by_slug(
        said(tmp_path, "epoch", loss=falls, val_loss=sorted(jumps)[::-1])
    )


def test_a_loss_near_zero_rises_in_few_points_while_all_answers_are_right(tmp_path: Path) -> None:
    loss = [0.0035, 0.0015, 0.0057, 0.0082]
    right = by_slug(said(tmp_path, "epoch", loss=loss, acc=[0.87, 0.89, 0.94, 0.95]))["loss-diverges"]
    assert right.severity == "low"
    wrong = by_slug(said(tmp_path, "epoch", loss=loss, acc=[0.95, 0.94, 0.89, 0.87]))["loss-diverges"]
    assert wrong.severity in ("medium", "high")


def test_overflows_of_a_loss_scale_are_notes(tmp_path: Path) -> None:
    norm = np.where(np.isin(T, (60, 140)), np.inf, 1.5 + 0.1 * NOISE)
    lines = [f"step {i} loss {2 / (1 + i / 20):.4f} grad_norm {norm[i]:.4f}" for i in T]
    scaled = by_slug(said_of_text(tmp_path, "\n".join(["fp16: true", *lines])))["gradient-not-finite"]
    assert scaled.severity == "info"
    assert by_slug(said_of_text(tmp_path, "\n".join(lines)))["gradient-not-finite"].severity == "low"


def test_a_machine_that_slows_down_does_not_make_the_run_sick(tmp_path: Path) -> None:
    seconds = np.where(np.arange(40) < 20, 55.0, 265.0)
    run = said(tmp_path, "epoch", loss=2.0 * np.exp(-np.arange(40) / 25), epoch_time=seconds)
    assert "step-time-jumps" in by_slug(run)
    assert run.health == "watch"
