"""Scores that hardly moved before they stopped for good."""

from __future__ import annotations

import numpy as np
import pytest

from tests import make
from traindx import pipeline
from traindx.vocabulary import Run


def scored(first: list[float], last: float, n: int = 100) -> Run:
    scores = np.concatenate([first, np.full(n - len(first), last)])
    losses = make.healthy_loss(n, start=1.2, floor=1.0)
    return make.run({"train/loss": losses, "train/accuracy": scores})


def messages(run: Run) -> list[str]:
    findings = pipeline.diagnose(run).first.findings
    return [f.message for f in findings if f.slug == "metric-constant-or-impossible"]


def test_one_class_for_all_after_the_first_epoch() -> None:
    assert messages(scored([0.5339], 0.5885)) == ["train/accuracy is exactly 0.5885 in its last 99 points"]


@pytest.mark.parametrize(
    "run",
    [
        scored([0.62, 0.81, 0.9], 0.95),  # nearly all of a small set is right from the fourth epoch on
        scored([0.5339], 0.5885, n=12),  # too few points
        scored(list(np.linspace(0.3, 0.5, 20)), 0.51),  # learned for a fifth of the run
    ],
)
def test_a_score_that_was_learned_and_then_settled(run: Run) -> None:
    assert messages(run) == []
