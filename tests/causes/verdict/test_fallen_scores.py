"""Scores that were better than they are at the end."""

from __future__ import annotations

import numpy as np
import pytest

from tests import make
from traindx import pipeline


def accuracies(end: float, scatter: float = 0.02, points: int = 600) -> np.ndarray:
    """An accuracy that rises to 0.6 and is at `end` in the last tenth."""
    rows = np.arange(points)
    level = np.where(rows < 0.9 * points, 0.34 + 0.26 * rows / (0.9 * points), end)
    return level + scatter * make.rng(1).standard_normal(points)


@pytest.mark.parametrize(
    ("values", "lost"),
    [
        (accuracies(0.42), True),
        (accuracies(0.58), False),
        (accuracies(0.42, points=60), False),
        (0.6 + 0.15 * make.rng(2).standard_normal(600), False),
        (np.sort(accuracies(0.42)), False),
    ],
)
def test_a_score_that_fell_back_for_good_is_no_converged_run(values: np.ndarray, lost: bool) -> None:
    loss = 1.1 - 0.3 * np.linspace(0, 1, len(values)) ** 0.5
    found = pipeline.diagnose(make.run({"train/loss": loss, "train/accuracy": values})).first
    assert ("use that checkpoint" in found.decision.reason) is lost
    if lost:
        assert (found.health, found.decision.action) == ("watch", "inspect")
