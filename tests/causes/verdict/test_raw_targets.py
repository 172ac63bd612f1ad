"""A loop of one's own on targets in raw units: the loss shows that the model works, where no outputs are recorded."""

from __future__ import annotations

import numpy as np
import pytest

from tests import make
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
