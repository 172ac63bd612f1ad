"""What must be said of small logs, and what must not, one log for each statement of the requirements."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tests.requirements.logs import FALLING, NOISE, by_slug, said, said_of_table
from traindx import pipeline

T = np.arange(600)
LONG = 2.0 * np.exp(-T / 120) + 0.4 + 0.01 * np.resize(NOISE, 600)


def spikes_at(*steps: int) -> np.ndarray:
    """Spikes of 3 that come back within five steps."""
    return sum(np.where(at <= T, 3.0 * np.exp2(at - T), 0.0) for at in steps)


def test_a_score_that_stays_poor_is_named(tmp_path: Path) -> None:
    loss = [5.41, 4.51, 4.37, 4.36, 4.26, 4.22]
    poor = said(tmp_path, "epoch", 1, loss=loss, val_accuracy=[0.24, 0.247, 0.247, 0.25, 0.255, 0.252])
    assert "val/accuracy has stopped improving at about 0.252" in by_slug(poor)["loss-plateaus"].message
    rising = said(tmp_path, "epoch", 1, loss=loss, val_accuracy=[0.1, 0.15, 0.2, 0.25, 0.3, 0.35])
    assert "loss-plateaus" not in by_slug(rising)


def starts(folder: Path, *lengths: int) -> list[str]:
    """The health of each run in a log that holds starts of these lengths."""
    lines = [f"step {i} loss {FALLING[i]:.4f}" for n in lengths for i in range(n)]
    (folder / "train.log").write_text("\n".join(lines))
    return [run.health for run in pipeline.diagnose(pipeline.read_all(folder / "train.log")).document.runs]


def test_a_start_that_was_given_up_has_no_verdict(tmp_path: Path) -> None:
    assert starts(tmp_path, 2, 3, 150) == ["healthy"]
    assert len(starts(tmp_path, 3, 30)) == 2  # not much longer
    assert len(starts(tmp_path, 150, 3)) == 2  # it may still run


def test_spikes_are_linked_to_what_they_share(tmp_path: Path) -> None:
    rate = np.select([T < 150, T < 300, T < 450], [1e-3, 3e-3, 1e-2], 3e-2)
    loss = LONG + spikes_at(150, 300, 450)
    risen = by_slug(said(tmp_path, loss=loss, lr=rate))["loss-spikes-recur"].message
    assert "first at step 150" in risen
    assert "each time right after the learning rate rose" in risen
    same = by_slug(said_of_table(tmp_path, loss=LONG + spikes_at(137, 337, 537), batch=T % 200))
    assert "each time at batch 137" in same["loss-spikes-recur"].message
    elsewhere = by_slug(
        said_of_table(tmp_path, loss=LONG + spikes_at(130, 337, 540), batch=T % 200, lr=rate)
    )
    assert "each time" not in elsewhere["loss-spikes-recur"].message


def test_a_rate_that_climbs_back_is_noted(tmp_path: Path) -> None:
    cosine = 5e-4 * (1 + np.cos(np.pi * T / 300))
    note = by_slug(said(tmp_path, loss=LONG, lr=cosine))["learning-rate-jumps"]
    assert note.severity == "info"
    assert "climbed back to" in note.message
    assert "learning-rate-jumps" not in by_slug(said(tmp_path, loss=LONG, lr=1e-6 + cosine[:300].repeat(2)))


def test_a_warm_up_that_is_over_is_not_going_on(tmp_path: Path) -> None:
    over = said(tmp_path, loss=LONG, lr=1e-3 * np.minimum(1, (T + 1) / 500))
    assert "warming up" not in over.decision.reason
    going_on = said(tmp_path, loss=LONG, lr=1e-3 * (T + 1) / 1000)
    assert "warming up" in going_on.decision.reason


def test_what_was_learned_and_lost_is_not_called_flat(tmp_path: Path) -> None:
    lost = said(tmp_path, loss=2.3 - 1.78 * np.exp(-(((T - 250) / 90) ** 2)) + 0.005 * np.sin(T * 7.0))
    assert lost.health == "failed"
    assert "diverged" in lost.decision.reason
    assert "loss-flat-from-start" not in by_slug(lost)


def test_a_norm_of_all_weights_that_explodes_is_said(tmp_path: Path) -> None:
    grown = by_slug(said(tmp_path, loss=LONG, weight_norm=np.geomspace(10, 7800, LONG.size)))
    assert grown["weights-grow-unbounded"].message == "the norm of the weights grew from 10 to 7800"
    assert "weights-grow-unbounded" not in by_slug(said(tmp_path, loss=LONG, weight_norm=10 + T / 60))


def test_a_column_that_never_changes_is_a_setting(tmp_path: Path) -> None:
    norm = 3 + 0.3 * np.sin(T * 7.0)
    clipped = said(tmp_path, loss=LONG, grad_norm=norm, max_grad_norm=np.ones(LONG.size))
    assert "clipping-always-active" in by_slug(clipped)
    assert clipped.health == "healthy"
    assert "clipping-always-active" not in by_slug(said(tmp_path, loss=LONG, grad_norm=norm))


def test_a_rate_that_is_printed_as_zero_is_no_fault(tmp_path: Path) -> None:
    assert said(tmp_path, loss=LONG, lr=0 * LONG).health == "healthy"
    still = said(tmp_path, loss=2.3 + 0.01 * np.sin(T * 7.0), lr=0 * LONG)
    assert still.health == "sick"
    assert "learning-rate-is-zero" in by_slug(still)


def test_a_gradient_of_zero_under_a_noisy_level_is_taken_as_it_is(tmp_path: Path) -> None:
    level = said(tmp_path, loss=2.3 + 0.06 * np.sin(T * 7.0), grad_norm=0 * LONG)
    assert "gradient-is-zero" in by_slug(level)
    assert "gradient-is-zero" not in by_slug(said(tmp_path, loss=LONG, grad_norm=0 * LONG))


def test_memory_that_ends_late_may_leak(tmp_path: Path) -> None:
    error = "RuntimeError: CUDA out of memory. Tried to allocate 20.00 MiB"
    shares = []
    for good in (2, 200):
        lines = [f"step {i} loss {FALLING[i]:.4f}" for i in range(good)]
        (tmp_path / "train.log").write_text("\n".join([*lines, error]))
        run = pipeline.diagnose(pipeline.read_all(tmp_path / "train.log")).first
        shares.append(sum(h.probability for h in run.hypotheses if h.cause == "memory-leak"))
    assert shares[0] < 0.05
    assert shares[1] > 0.05


def test_a_validation_loss_that_was_best_long_ago_is_said_although_it_scatters(tmp_path: Path) -> None:
    held_out = [0.674, 0.956, 0.811, 0.656, 0.689, 0.625, 0.802, 0.689, 0.731, 0.728, 0.816, 0.724, 0.696]
    falling = 0.86 * np.exp(-np.arange(13) / 11)
    past = by_slug(said(tmp_path, "epoch", 1, loss=falling, val_loss=held_out))["validation-gap-grows"]
    assert "val/loss was best at epoch 6 (0.625) and is 0.696 now" in past.message
    level = said(tmp_path, "epoch", 1, loss=0.7 - 0.01 * np.arange(13), val_loss=held_out)
    assert "validation-gap-grows" not in by_slug(level)
