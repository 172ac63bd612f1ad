"""How grave one and the same shape is in different kinds of training."""

from __future__ import annotations

import numpy as np

from tests import make
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
