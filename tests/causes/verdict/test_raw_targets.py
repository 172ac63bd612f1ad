"""A loop of one's own on targets in raw units: the loss shows that the model works, where no outputs are recorded."""

from __future__ import annotations

import numpy as np
import pytest

from tests import make
from traindx import pipeline
from traindx.causes.verdict.harm import explained_by_loss, is_good
from traindx.features.shared import Features
from traindx.vocabulary import Run, Setup

SPREAD, MEAN = 160.0, 9.0


def descent(end: float, *, first: float = SPREAD**2 + MEAN**2, **facts: object) -> Run:
    known = {"targets_std": SPREAD, "targets_mean_abs": MEAN, **facts}
    return make.run(
        {"train/loss": end + (first - end) * 0.85 ** np.arange(120)},
        setup=Setup().with_facts(known, "capture"),  # type: ignore[arg-type]
    )


def test_a_squared_error_that_leaves_nothing() -> None:
    run = descent(4.0)
    assert explained_by_loss(run, Features(run)) == pytest.approx(1, abs=0.01)
    assert is_good(run, Features(run))


@pytest.mark.parametrize(
    "run",
    [
        descent(0.4 * SPREAD**2),  # a large part is left
        descent(4.0, first=300.0),  # no squared error: a likelihood, or an absolute error
        descent(4.0, loss_name="mse_loss"),  # its outputs are measured
        descent(
            0.001, first=1.0, targets_std=1.0, targets_mean_abs=0.0
        ),  # of usual units: no first loss tells
    ],
)
def test_what_the_loss_does_not_show(run: Run) -> None:
    assert not is_good(run, Features(run))


def verdict(first: float, last: float, **more: np.ndarray) -> tuple[str, str]:
    falls = last + (first - last) * 0.9 ** np.arange(200)
    noisy = falls * (1 + 0.03 * make.rng(0).standard_normal(200))
    found = pipeline.diagnose(make.run({"train/loss": noisy, **more})).first
    return found.health, found.decision.reason


def test_a_high_loss_whose_best_value_is_unknown_is_not_shown_to_be_healthy() -> None:
    """It falls as far where only the mean of the targets is learned."""
    for first, last in ((1e9, 3e6), (5e4, 3e3)):
        health, reason = verdict(first, last)
        assert health == "watch"
        assert "always predicting the mean" in reason


def test_a_loss_whose_level_is_known_by_something_is() -> None:
    rising = 1 - 0.9 ** np.arange(200)
    assert verdict(1e9, 3e6, **{"val/r2": 0.95 * rising})[0] == "healthy"
    assert verdict(2.3, 0.05)[0] == "healthy"
    assert verdict(550.0, 105.0)[0] == "healthy"  # of an autoencoder, a sum over pixels
