"""What held-out curves and rewards alone show: a test set far below validation, a rise without a training loss, PPO."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.requirements.logs import NOISE, by_slug, said, said_of_text
from traindx.reports.diagnosis.brief import course_sentence
from traindx.vocabulary.run import Series

AT = np.arange(30)
FALLS = 0.4 + 1.9 * np.exp(-AT / 9) + 0.01 * NOISE[:30]
LEARNS = 0.995 - 0.5 * np.exp(-AT / 6)
TURNS = np.where(AT < 9, 0.9 + 1.4 * (1 - AT / 9) ** 2, 0.9 + 0.033 * (AT - 9)) * (1 + 0.01 * NOISE[:30])


@pytest.mark.parametrize(("test", "leaks"), [(0.5, True), (0.93, False)])
def test_a_test_set_far_below_validation(tmp_path: Path, test: float, leaks: bool) -> None:
    tests = LEARNS - (1 - test) * AT / 29
    each = said(tmp_path, "epoch", 1, loss=FALLS, val_acc=LEARNS, test_acc=tests)
    rows = [f"epoch {i + 1} loss {FALLS[i]:.4f} val_acc {LEARNS[i]:.4f}" for i in AT]
    once = said_of_text(tmp_path, "\n".join([*rows, f"Test accuracy: {test}"]))
    for run in (each, once):
        assert ("validation-gap-grows" in by_slug(run)) == leaks
        assert (run.health == "healthy") != leaks
        assert (run.hypotheses[0].cause == "train-val-leakage") == leaks


@pytest.mark.parametrize(
    ("values", "rises"), [(TURNS, True), (FALLS, False), (0.9 + 0.15 * NOISE[:30] ** 2, False)]
)
def test_a_validation_loss_alone_that_rises_in_order(
    tmp_path: Path, values: np.ndarray, rises: bool
) -> None:
    found = by_slug(said(tmp_path, "epoch", 1, val_loss=values))
    assert ("loss-diverges" in found) == rises


def test_the_course_of_a_validation_curve_names_its_best() -> None:
    turned = Series(np.arange(3.0), np.array([2.0, 0.9, 1.5]))
    words = "val/loss fell from 2 (epoch 0) to 0.9 (epoch 1) and ended at 1.5 (epoch 2)."
    assert course_sentence("val/loss", turned, "epoch") == words
    level = Series(np.arange(3.0), np.array([2.0, 0.9, 0.95]))
    assert course_sentence("val/loss", level, "epoch") == "val/loss fell from 2 (epoch 0) to 0.95 (epoch 2)."


def ppo(folder: Path, reward: np.ndarray, kl: np.ndarray, entropy: np.ndarray) -> str:
    lines = [
        str(
            {
                "objective/kl": round(float(kl[i]), 3),
                "objective/entropy": round(float(entropy[i]), 3),
                "objective/non_score_reward": round(float(-0.05 * kl[i]), 4),
                "objective/rlhf_reward": round(float(reward[i]), 4),
                "policy/approxkl_avg": 0.005,
                "loss/policy_avg": round(float(-0.01 + 0.004 * NOISE[i]), 4),
                "episode": 64 * (i + 1),
            }
        )
        for i in range(150)
    ]
    run = said_of_text(folder, "\n".join(lines))
    assert not any("non_score" in (f.where or "") for f in run.findings)
    return run.health


def test_what_a_divergence_costs_is_no_reward(tmp_path: Path) -> None:
    part = np.arange(150) / 150
    fine = -1 + 3 * (1 - np.exp(-3 * part)) + 0.1 * NOISE[:150]
    assert ppo(tmp_path, fine, 8 * part, 45 - 10 * part) == "healthy"
    lost = np.where(part < 0.4, -1 + 5 * part, 1 - 8 * (part - 0.4)) + 0.1 * NOISE[:150]
    gone = np.where(part < 0.4, 8 * part, 3 + 200 * (part - 0.4) ** 2)
    assert ppo(tmp_path, lost, gone, np.where(part < 0.4, 45, 0.5)) in ("sick", "failed")


@pytest.mark.parametrize(
    ("planned", "ends"), [(30, ", all that were planned"), (90, "check again at epoch 88")]
)
def test_a_flat_run_at_its_end_is_not_asked_to_wait(tmp_path: Path, planned: int, ends: str) -> None:
    loss = 2.3026 + 0.002 * NOISE[:30]
    text = "\n".join(f"Epoch {i + 1}/{planned} loss {v:.4f}" for i, v in enumerate(loss))
    reason = said_of_text(tmp_path, text).decision.reason
    assert reason.endswith(ends)


@pytest.mark.parametrize(("broken", "health"), [(2, "sick"), (None, "healthy")])
def test_the_loss_of_one_process_may_break(tmp_path: Path, broken: int | None, health: str) -> None:
    rows = [
        f"[rank{rank}]: step {i * 10} loss {np.nan if rank == broken and i > 14 else FALLS[i] + 0.01 * rank:.4f} lr 3e-4"
        for i in AT
        for rank in range(4)
    ]
    run = said_of_text(tmp_path, "\n".join(rows))
    assert run.health == health
    assert ("loss-not-finite" in by_slug(run)) == (broken is not None)


@pytest.mark.parametrize(
    ("first", "words"), [(2.294, "guessing among 10 classes"), (1.9, "Use that checkpoint")]
)
def test_a_first_evaluation_near_guessing_is_no_checkpoint(tmp_path: Path, first: float, words: str) -> None:
    run = said(tmp_path, "epoch", 0, train_loss=FALLS, val_loss=first + 0.04 * AT)
    assert words in run.decision.reason


@pytest.mark.parametrize(("slope", "health"), [(0.0, ("sick",)), (1.0, ("healthy",))])
def test_preferences_at_the_loss_of_guessing(tmp_path: Path, slope: float, health: tuple[str, ...]) -> None:
    part, noise = np.arange(80) / 80, NOISE[:80]
    columns = {
        "loss": 0.6931 - 0.3 * slope * (1 - np.exp(-4 * part)) + 0.003 * noise,
        "rewards/accuracies": 0.5 + 0.3 * slope * (1 - np.exp(-4 * part)) + 0.02 * noise,
        "rewards/margins": 2 * slope * (1 - np.exp(-3 * part)) + 0.001 * noise,
    }
    run = said(tmp_path, **columns)
    assert run.health in health
    assert ("loss-at-chance" in by_slug(run)) == (slope == 0)


@pytest.mark.parametrize("ends", [0.12, 0.004])
def test_a_divergence_alone_is_no_objective_while_it_rises(tmp_path: Path, ends: float) -> None:
    run = said(tmp_path, kl=np.linspace(0.02, ends, 200), glen=600 - np.arange(200) / 2)
    assert not {f.slug for f in run.findings} & {"loss-diverges", "loss-oscillates"}
    assert any(s.name == "train/kl" for s in run.run.signals)


def test_train_val_and_test_next_to_a_loss_are_scores(tmp_path: Path) -> None:
    run = said(tmp_path, "Epoch:", 1, Loss=FALLS, Train=LEARNS, Val=LEARNS - 0.1, Test=LEARNS - 0.12)
    assert {"train/loss", "train/score", "val/score", "val/test_score"} <= {s.name for s in run.run.signals}
    errors = said(tmp_path, "Epoch:", 1, Loss=FALLS, Train=1 - LEARNS, Val=1.1 - LEARNS)
    assert not any("score" in s.name for s in errors.run.signals)
