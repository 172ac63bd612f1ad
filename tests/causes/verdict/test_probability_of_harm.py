"""How probable harm is: in agreement with health, and without a number where nothing shows it."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tests import make
from traindx import pipeline
from traindx.vocabulary.run import Run


def diverged() -> Run:
    """Learns for half of the run, then rises far above its start and stays there."""
    loss = make.healthy_loss(400)
    loss[200:] = np.geomspace(1, 1e6, 200)
    return make.run({"train/loss": loss})


def learned() -> Run:
    score = 0.97 - 0.87 * np.exp(-np.arange(60) / 8)
    val = (np.arange(0, 600, 10.0), score)
    return make.run({"train/loss": make.healthy_loss(600), "val/accuracy": val})


def unmoved() -> Run:
    return make.run({"train/loss": np.full(400, 2.302585)})


def as_json(run: Run) -> dict:
    return json.loads(pipeline.diagnose(run).to_json())["runs"][0]


@pytest.mark.parametrize(
    ("run", "health", "low", "high"),
    [(diverged(), "failed", 1.0, 1.0), (unmoved(), "sick", 0.5, 1.0), (learned(), "healthy", 0.0, 0.5)],
    ids=["diverged", "unmoved", "learned"],
)
def test_harm_agrees_with_health(run: Run, health: str, low: float, high: float) -> None:
    judged = as_json(run)
    assert judged["health"] == health
    assert set(judged["harm"]) == {"probability", "seen", "judged_by"}
    assert low <= judged["harm"]["probability"] <= high
    severities = {f["slug"]: f["severity"] for f in judged["findings"]}
    assert all(severities[slug] in ("critical", "high", "medium") for slug in judged["harm"]["seen"])
    assert bool(judged["harm"]["seen"]) == (health != "healthy")


def test_it_is_judged_by_a_score_before_the_loss() -> None:
    assert as_json(learned())["harm"]["judged_by"] == "val/accuracy compared with its scale"
    assert as_json(unmoved())["harm"]["judged_by"] == "train/loss compared with its own start"


@pytest.mark.parametrize("series", [{"train/loss": np.array([2.3, 2.2])}, {"lr": np.full(50, 0.1)}])
def test_harm_of_a_run_that_cannot_be_judged_has_no_probability(series: dict) -> None:
    assert as_json(make.run(series))["harm"]["probability"] is None
