"""A single curve: held-out losses that rise a little, scores at their cap, and a loss that stood high for long."""

from __future__ import annotations

import numpy as np

from tests import make
from traindx import pipeline
from traindx.vocabulary import Run

NOISE = np.random.default_rng(0).normal(size=400)


def severities(run: Run) -> dict[str, str]:
    return {f.slug: f.severity for f in pipeline.diagnose(run).first.findings}


def risen(factor: float, name: str) -> Run:
    """A loss that falls from 0.46 to 0.44, and then rises to `factor` times that for good."""
    levels = np.concatenate([np.linspace(0.46, 0.44, 20), np.linspace(0.44, 0.44 * factor, 40)])
    values = np.concatenate([levels, np.full(140, 0.44 * factor)]) + 0.004 * NOISE[:200]
    return make.run({name: values})


def test_a_held_out_loss_that_rises_a_little_is_no_explosion() -> None:
    assert severities(risen(1.13, "val/loss"))["loss-diverges"] == "medium"
    assert severities(risen(2.0, "val/loss"))["loss-diverges"] == "high"  # nor any that a model overfits to
    assert severities(risen(1.13, "train/loss"))["loss-diverges"] == "critical"


def learned(last: float) -> Run:
    """A score in percent that rises from 75 to `last` within 20 of 800 points, and stays there."""
    rise = np.linspace(75, last, 20)
    return make.run({"train/score": np.concatenate([rise, np.full(780, last)])})


def test_a_score_at_its_cap_has_learned() -> None:
    assert "loss-flat-from-start" not in severities(learned(100.0))


def test_a_score_that_stays_below_its_cap_has_not() -> None:
    assert "loss-flat-from-start" in severities(make.run({"train/score": 76 + 0.5 * NOISE}))


def sparse(points: int, evaluations: int) -> Run:
    """A training loss logged at a few steps next to a validation loss that falls at each evaluation."""
    steps = np.linspace(10, 330, evaluations).round()
    falls = 0.9 + 1.4 * np.exp(-np.arange(evaluations) / 6) + 0.03 * NOISE[:evaluations]
    train = (np.linspace(50, 300, points).round(), np.linspace(1.1, 0.7, points))
    return make.run({"train/loss": train, "val/loss": (steps, falls)})


def test_many_evaluations_are_enough_for_a_verdict() -> None:
    assert pipeline.diagnose(sparse(6, 28)).first.hypotheses[0].pattern != "too-short-to-tell"
    assert pipeline.diagnose(sparse(6, 8)).first.hypotheses[0].pattern == "too-short-to-tell"


def excursion(height: float) -> Run:
    """A loss around 5 that rises to `height` for a third of the run with three spikes on top, and comes down."""
    level = np.full(400, 5.0)
    level[80:220] = height
    level[220:] = 3.0
    values = level * np.exp(0.2 * NOISE)
    values[[110, 150, 190]] *= 12
    return make.run({"train/loss": values})


def test_a_loss_that_stood_high_for_long_is_no_healthy_run() -> None:
    assert severities(excursion(2000.0)).get("loss-spikes-recur") == "medium"
    assert severities(excursion(6.0)).get("loss-spikes-recur") != "medium"
