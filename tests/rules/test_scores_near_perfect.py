"""Rules of validation curves where the score is near perfect: a sample or two make no finding."""

from __future__ import annotations

import numpy as np

from tests import make
from traindx import pipeline
from traindx.vocabulary import Run


def severities(run: Run) -> dict[str, str]:
    return {f.slug: f.severity for f in pipeline.diagnose(run).first.findings}


def scored(accuracies: list[float]) -> Run:
    """A training loss that falls, and an accuracy at every tenth of its 60 steps."""
    steps = np.linspace(5, 60, len(accuracies)).round()
    losses = make.healthy_loss(60, floor=0.01)
    return make.run({"train/loss": losses, "val/accuracy": (steps, np.array(accuracies))})


def test_one_sample_less_than_perfect_from_the_first_evaluation_on() -> None:
    assert "validation-gap-grows" not in severities(scored([1.0, 1.0, 0.974, 0.974, 0.974, 0.974]))


def test_a_score_that_was_best_at_once_and_then_fell() -> None:
    assert "validation-gap-grows" in severities(scored([1.0, 0.97, 0.85, 0.8, 0.78, 0.76]))


def evaluated(accuracy: float) -> Run:
    """A validation loss that doubles and halves five times, with a score that stays."""
    losses = np.array([0.12, 0.03, 0.09, 0.02, 0.07, 0.02, 0.06, 0.015, 0.05, 0.01, 0.045])
    steps = np.arange(50, 50 * (len(losses) + 1), 50)
    scores = np.full(len(losses), accuracy) + np.resize([0.0, 0.004], len(losses))
    return make.run(
        {
            "train/loss": make.healthy_loss(551, start=0.7, floor=0.02),
            "val/loss": (steps, losses),
            "val/accuracy": (steps, scores),
        }
    )


def test_a_loss_near_zero_may_double() -> None:
    assert severities(evaluated(0.985)).get("loss-oscillates") == "low"
    assert severities(evaluated(0.8)).get("loss-oscillates") == "medium"


def memorized(loss: float, last: float) -> Run:
    """A validation loss that rises from 0.6 to `loss`, and an accuracy from 0.725 to `last`, in a run that learns its
    training data by heart."""
    steps = np.arange(5, 301, 5)
    rise = np.concatenate([[0.66, 0.61, 0.6], np.linspace(0.62, loss, len(steps) - 3)])
    scores = np.full(len(steps), last)
    scores[:3] = 0.65, 0.7, 0.725
    return make.run(
        {
            "train/loss": make.healthy_loss(301, start=0.7, floor=0.001),
            "val/loss": (steps, rise),
            "val/accuracy": (steps, scores),
        }
    )


def test_one_sample_more_does_not_make_up_for_a_loss_that_trebles() -> None:
    """Of 40 samples. Many more right do, unless the loss ends worse than it began, and one more does where the loss
    hardly rises."""
    assert severities(memorized(2.0, 0.75)).get("validation-gap-grows") == "high"
    assert severities(memorized(2.0, 0.85)).get("validation-gap-grows") == "medium"
    assert severities(memorized(1.1, 0.85)).get("validation-gap-grows") == "low"
    assert severities(memorized(0.75, 0.75)).get("validation-gap-grows") == "low"
