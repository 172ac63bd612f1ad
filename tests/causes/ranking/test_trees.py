"""Boosted trees: only what may be wrong with them is ranked, and their rates are compared with those of trees."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest

from tests import make
from traindx import pipeline
from traindx.causes.ranking.rank import OF_TREES
from traindx.vocabulary import Run, Setup
from traindx.vocabulary.diagnosis import RunDiagnosis

ROUNDS = np.arange(100)


def boosted(train: np.ndarray, val: np.ndarray, **facts: float) -> Run:
    setup = Setup().with_facts(facts, "capture")
    run = make.run({"train/loss": train, "val/loss": val}, setup=setup)
    return msgspec.structs.replace(run, framework="lightgbm", complete=True)


def ranked(run: Run) -> RunDiagnosis:
    return pipeline.diagnose(run).first


def overfitted() -> Run:
    """Deep trees: training reaches zero, and validation is best in the third round."""
    train = 60 * 0.7**ROUNDS + 0.001
    return boosted(train, 79.5 - 5.8 * np.exp(-np.abs(ROUNDS - 3) / 6), lr=0.3, max_depth=10)


def hardly_moved(rate: float, fall: float) -> Run:
    noise = 0.0005 * make.rng().standard_normal((2, len(ROUNDS)))
    train, val = 2.302 - fall * ROUNDS / 100 + noise
    return boosted(train, val, lr=rate)


def test_overfitting_trees_are_too_deep_or_too_many() -> None:
    said = ranked(overfitted())
    assert {h.cause for h in said.hypotheses} <= OF_TREES
    assert said.hypotheses[0].cause in {"insufficient-regularization", "too-little-data"}
    assert "grow shallower trees: max_depth 5 instead of 10" in {
        offer.change for h in said.hypotheses for offer in h.fixes
    }


def test_a_rate_that_moves_nothing() -> None:
    assert ranked(hardly_moved(1e-5, 0.006)).hypotheses[0].cause == "learning-rate-too-low"


@pytest.mark.parametrize("rate", [0.05, 0.1, 0.3])
def test_a_usual_rate_is_not_the_cause(rate: float) -> None:
    leading = ranked(hardly_moved(rate, 0.006)).hypotheses[0]
    assert leading.cause != "learning-rate-too-low" or leading.probability < 0.65


def closer_and_closer() -> Run:
    """Training falls to a tenth of validation, which stays at its best; the targets are in the hundreds."""
    fall = np.exp(-ROUNDS / 8)
    return boosted(27_000 * fall + 220, 26_000 * fall + 1_330, lr=0.1)


def test_a_gap_without_a_rise_is_no_harm_to_trees() -> None:
    said = ranked(closer_and_closer())
    assert said.health == "healthy"
    assert "unnormalized-targets" not in {h.cause for h in said.hypotheses}
    assert "validation-gap-grows" not in {f.slug for f in said.findings}


def test_nets_keep_their_causes() -> None:
    run = msgspec.structs.replace(overfitted(), framework="keras")
    assert {h.cause for h in ranked(run).hypotheses} - OF_TREES
