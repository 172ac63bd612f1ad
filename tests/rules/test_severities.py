"""How grave one and the same shape is in different kinds of training."""

from __future__ import annotations

import numpy as np
from msgspec.structs import replace

from tests import make
from tests.captured import captured, with_facts
from tests.samples.train_and_validation_overlap import OVERSAMPLED
from traindx import pipeline


def test_a_reward_that_climbed_and_then_swings_is_no_grave_finding() -> None:
    rows = np.arange(600)
    climbs = 1200 * (1 - np.exp(-rows / 60)) + 5 * make.rng(0).standard_normal(600)
    phase = np.cumsum((1 + 0.3 * make.rng(1).standard_normal(600)) / 12)
    swings = climbs + np.where(rows > 100, 150 * np.sin(phase), 0)
    found = {}
    for name, values in (("train/reward", swings), ("train/loss", 2000 - swings)):
        findings = pipeline.diagnose(make.run({name: values})).first.findings
        found[name] = {f.slug: f.severity for f in findings}["loss-oscillates"]
    assert found == {"train/reward": "low", "train/loss": "medium"}


def test_a_validation_loss_that_never_was_finite_is_low_where_its_score_rises() -> None:
    rows = np.arange(60)
    falls, rises = np.exp(-rows / 20) + 0.1, 0.8 * (1 - np.exp(-rows / 15))
    losses = {"train/loss": falls, "val/loss": np.full(60, np.inf)}
    late = {"train/loss": falls, "val/loss": np.where(rows < 30, falls, np.inf)}
    found = []
    for signals, score in ((losses, rises), (losses, rises[::-1]), (late, rises)):
        findings = pipeline.diagnose(make.run({**signals, "val/accuracy": score})).first.findings
        found.append({f.slug: f.severity for f in findings}["loss-not-finite"])
    assert found == ["low", "high", "high"]


def test_a_bad_start_is_no_finding_before_a_few_points_show_its_harm() -> None:
    whole = captured("weights_large")
    found = []
    for rows in (2, 30):
        cut = {n: replace(s, steps=s.steps[:rows], values=s.values[:rows]) for n, s in whole.series.items()}
        panels = {n: replace(p, steps=p.steps[:1], values=p.values[:1]) for n, p in whole.panels.items()}
        diagnosis = pipeline.diagnose(replace(whole, series=cut, panels=panels)).first
        found.append("weights-start-badly-scaled" in {f.slug for f in diagnosis.findings})
    assert found == [False, True]


def test_an_overlap_is_grave_where_its_samples_are_copies_and_not_equal_by_chance() -> None:
    severities = []
    for features in (20, 0):
        run = with_facts("healthy", **{**OVERSAMPLED, "inputs_identifying_features": features})
        findings = {f.slug: f.severity for f in pipeline.diagnose(run).first.findings}
        severities.append(findings["train-and-validation-overlap"])
    assert severities == ["high", "low"]
