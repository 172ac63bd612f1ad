"""The counts behind the last two columns of docs/thresholds.md."""

from __future__ import annotations

import numpy as np

from benchmarks.thresholds import Changes, measure, saved
from docs.catalogues import sensitivity
from tests.make import run
from traindx.rules import catalogue


def test_a_threshold_that_decides_a_run_is_counted() -> None:
    rule = next(r for r in catalogue() if r.slug == "clipping-never-active")
    calm = run({"clip_ratio": np.ones(60), "train/loss": np.linspace(2, 1, 60)})
    results = measure(iter([calm, calm]), (rule,))
    effect = results.effects["clipping-never-active.untouched"]
    assert (results.runs, effect.judged, effect.half.outcomes, effect.double.outcomes) == (2, 2, 0, 2)
    assert effect.double.verdicts == 0, "a note does not change the verdict"
    assert effect.samples >= effect.double.samples > 0, "no ratio is 2, so its own samples become clear"


def test_the_page_shows_the_counts_of_the_last_measurement() -> None:
    effect = saved().effects["loss-diverges.noise"]
    shown = sensitivity(effect, effect.half, 6.0)
    assert shown == f"{effect.half.outcomes} of {effect.judged} ({effect.half.verdicts})"
    effect.judged = 0
    assert sensitivity(effect, Changes(samples=1), 6.0) == f"1 of {effect.samples} samples"
    assert sensitivity(effect, Changes(), 0.0) == "–"
    assert sensitivity(None, None, 6.0) == "not measured"


def test_no_threshold_of_the_last_measurement_is_gone() -> None:
    known = {f"{rule.slug}.{name}" for rule in catalogue() for name in rule.thresholds}
    stale = sorted(set(saved().effects) - known)
    assert not stale, f"rename them in benchmarks/thresholds.json, or measure again: {stale}"
