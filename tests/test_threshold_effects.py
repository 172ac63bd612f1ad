"""The counts in the last two columns of docs/thresholds.md."""

from __future__ import annotations

import copy
import json
import pickle
from pathlib import Path

import numpy as np
import pytest

from benchmarks import threshold_answers
from benchmarks.threshold_answers import Score, deciding, saved_answers
from benchmarks.thresholds import Changes, measure, saved
from docs.catalogues import compare_scores, sensitivity
from tests.make import run
from traindx.rules import catalogue
from traindx.vocabulary.rule import Threshold


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


def test_every_threshold_that_decides_a_verdict_was_scored_on_labelled_logs() -> None:
    answers = saved_answers()
    assert set(deciding()) == set(answers.half) == set(answers.double), (
        "python -m benchmarks.threshold_answers"
    )
    assert compare_scores(Score(10, 5, 2), Score(10, 5, 2)) == "="
    assert compare_scores(Score(9, 5, 4), Score(10, 5, 2)) == "-1, 0, +2"


def test_labelled_logs_are_scored_with_each_threshold(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A loss that triples for good is sick; with a multiple that it does not reach nothing says that it diverges."""
    rows = [f"{step},{2.0 - step * 0.01 if step < 100 else 4.0}" for step in range(200)]
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "a.csv").write_text("step,loss\n" + "\n".join(rows) + "\n")
    label = {"id": "a", "source": "a", "path": "logs/a.csv", "verdict": ["sick"], "action": ["stop"]}
    label |= {"must": [["diverged"]], "may": [], "causes": [], "confirmed": []}
    (tmp_path / "labels.json").write_text(json.dumps([label]))
    (tmp_path / "says.json").write_text(json.dumps({"diverged": {"rules": ["loss-diverges"]}}))
    monkeypatch.setattr(threshold_answers, "deciding", lambda: ["loss-diverges.times"])
    monkeypatch.setattr(threshold_answers, "half_of", lambda _: "development")
    answers = threshold_answers.measure(tmp_path)
    assert (answers.logs, answers.now.said, answers.half["loss-diverges.times"].said) == (1, 1, 1)


def test_a_threshold_that_evidence_shows_survives_a_copy() -> None:
    limit = Threshold(3.0, "x", "theory", "where it is derived")
    for other in (copy.deepcopy(limit), pickle.loads(pickle.dumps(limit))):
        assert (other, other.unit, other.basis, other.source) == (3.0, "x", "theory", "where it is derived")
