"""Experiments until one cause is settled, on a training that is gradient descent on a parabola."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.lab.repair.descent import Descent
from traindx.causes.experiments.belief import CHANCES
from traindx.config import Config
from traindx.lab.conduct.journal import Journal
from traindx.lab.repair.bench import Bench
from traindx.lab.repair.investigate import (
    Experiment,
    Investigation,
    after_trial,
    experiments,
    investigate,
    judge_two,
)
from traindx.vocabulary.diagnosis import Hypothesis
from traindx.vocabulary.trial import Trial

TRIAL = Trial(
    fix=None, experiment="", cause="learning-rate-too-high", interventions=("lr=*0.1",), verdict="confirmed"
)


def looked(folder: Path, script: Descent, budget: float = 1e6) -> Investigation:
    bench = Bench(["python", "train.py"], script, Journal(folder, {"of": "test"}), budget=budget, jobs=1)
    return investigate(bench, Config())


def believed(**shares: float) -> list[Hypothesis]:
    return [Hypothesis(cause=c.replace("_", "-"), title=c, probability=p) for c, p in shares.items()]


def test_a_settled_cause_costs_one_start(tmp_path: Path) -> None:
    script = Descent(rate=0.02)
    found = looked(tmp_path, script)
    assert found.why.startswith("settled")
    assert script.asked == [()]
    assert len(found.diagnosis.belief) == 1


def test_the_trail_holds_the_belief_before_and_after_each_experiment(tmp_path: Path) -> None:
    found = looked(tmp_path, Descent(rate=0.3))
    beliefs = [shares for _, shares in found.diagnosis.belief]
    assert len(beliefs) == 1 + len(found.diagnosis.trials)
    assert beliefs[-1] == {h.cause: round(h.probability, 4) for h in found.diagnosis.hypotheses}
    assert sum(beliefs[-1].values()) == pytest.approx(1, abs=0.01)


def test_the_most_informative_experiment_comes_first_and_none_twice() -> None:
    belief = believed(learning_rate_too_high=0.5, clip_too_tight=0.4, dead_relus=0.06, healthy=0.04)
    plan = experiments(belief, set())
    assert plan[0].interventions == ("lr=*0.1",)
    assert [e.bits for e in plan] == sorted((e.bits for e in plan), reverse=True)
    assert ("lr=*0.1",) not in [e.interventions for e in experiments(belief, {("lr=*0.1",)})]
    assert experiments(believed(healthy=0.5, label_noise=0.5), set()) == []


def test_a_large_gain_says_more_than_a_small_one() -> None:
    belief = believed(too_little_data=0.6, misaligned_labels=0.2, learning_rate_too_high=0.2)
    one = Experiment(("learning-rate-too-high",), "", ("lr=*0.1",), 0.1)
    share = [
        {h.cause: h.probability for h in after_trial(belief, one, replace(TRIAL, gains=gains))}[
            "learning-rate-too-high"
        ]
        for gains in ((0.2, 0.3), (0.9, 0.2), (0.9, 0.8))
    ]
    assert share[0] == share[1] < 0.6 < 0.8 < share[2]


def test_two_seeds_must_agree() -> None:
    assert judge_two([0.5, 0.4])[3] == "confirmed"
    assert judge_two([0.5, 0.0])[3] == "inconclusive"
    assert judge_two([0.0, 0.01])[3] == "refuted"
    assert judge_two([-0.5, -0.4])[3] == "harmful"
    assert set(CHANCES) >= {judge_two(g)[3] for g in ([], [1.0], [-1.0, 1.0])}
