"""What public logs of unseen repositories showed: numbers that look like harm and are none, each with its twin."""

import numpy as np

from tests.make import healthy_loss, rng, run
from traindx import pipeline
from traindx.vocabulary.run import Run


def severity_of(slug: str, of: Run) -> str | None:
    return next((f.severity for f in pipeline.diagnose(of).first.findings if f.slug == slug), None)


def gap(ratio_at_first: float) -> Run:
    """A validation loss that ends 12 times the training loss, after a first one `ratio_at_first` times it."""
    noise = 1 + 0.01 * rng(3).standard_normal((2, 40))
    course = np.geomspace(ratio_at_first, 12.0, 40)
    loss = np.linspace(0.0069, 0.0063, 40) * noise[0]
    return run({"train/loss": loss, "val/loss": loss * course * noise[1] / noise[0]})


def test_a_ratio_of_losses_from_the_first_evaluation_on_is_one_of_units() -> None:
    assert severity_of("validation-gap-grows", gap(11.3)) == "low"
    assert severity_of("validation-gap-grows", gap(1.2)) in ("medium", "high")


def test_a_validation_loss_of_zero_is_not_computed_where_the_accuracy_moves() -> None:
    loss, zero = healthy_loss(60), np.zeros(60)
    moves = run({"train/loss": loss, "val/loss": zero, "val/accuracy": 1 - 0.3 * loss})
    assert severity_of("metric-constant-or-impossible", moves) == "low"
    stays = run({"train/loss": loss, "val/loss": zero, "val/accuracy": np.full(60, 0.1)})
    assert severity_of("metric-constant-or-impossible", stays) == "medium"


def drifting(fall: float) -> Run:
    """A running mean of rewards that drifts back and forth, and falls by `fall` over its last third."""
    rows = 147
    walk = np.cumsum(3 * rng(0).standard_normal(rows))
    walk -= np.linspace(0, walk[-1] + 6, rows)
    return run({"train/reward": 110 + walk - fall * np.maximum(np.arange(rows) - 98, 0) / 49})


def test_a_reward_that_always_drifts_has_not_diverged() -> None:
    assert severity_of("loss-diverges", drifting(0.0)) is None
    assert severity_of("loss-diverges", drifting(100.0)) in ("high", "critical")
