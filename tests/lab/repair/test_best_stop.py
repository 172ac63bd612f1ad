"""Where a run should have stopped, and the search that stops it there."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace

from tests.lab.repair.descent import Descent
from tests.lab.repair.test_search import searched
from traindx.lab.judge.objectives import objective_of
from traindx.lab.repair.best_stop import best_stop
from traindx.vocabulary.run import Run, series
from traindx.vocabulary.setup import Setup

EVALUATIONS = np.arange(10.0, 301.0, 10.0)


def validated(losses: np.ndarray, accuracies: np.ndarray | None = None) -> Run:
    given = {"val/loss": series(EVALUATIONS, losses)}
    if accuracies is not None:
        given["val/accuracy"] = series(EVALUATIONS, accuracies)
    return Run(
        id="r", source="", format="traindx", framework="torch", series=given, events=(), setup=Setup()
    )


def stop(
    run: Run, signal: str = "val/loss", direction: str = "lower", asked: bool = False
) -> tuple[int, str] | None:
    found = best_stop(run, objective_of(run, signal, direction, ""), 0.1, asked)
    return None if found is None else (found.step, found.objective.signal)


RISING = 0.4 + np.abs(EVALUATIONS - 60) / 100


def test_it_is_the_step_of_the_lowest_loss() -> None:
    assert stop(validated(RISING)) == (60, "val/loss")


def test_a_single_lucky_validation_is_none() -> None:
    lucky = np.full(30, 0.5)
    lucky[4] = 0.1
    assert stop(validated(lucky)) is None


def test_a_loss_that_still_falls_is_no_reason_to_stop() -> None:
    assert stop(validated(1 / EVALUATIONS)) is None
    assert stop(validated(np.abs(EVALUATIONS - 270) / 100 + 0.4)) is None, "too late to count"


def test_the_metric_decides_and_the_loss_where_the_metric_stays() -> None:
    falls = validated(RISING, 0.9 - np.abs(EVALUATIONS - 100) / 1000)
    assert stop(falls, "val/accuracy", "higher") == (100, "val/accuracy")
    stays = validated(RISING, np.full(30, 0.9))
    assert stop(stays, "val/accuracy", "higher") == (60, "val/loss")
    assert stop(stays, "val/accuracy", "higher", asked=True) is None, "the user named the accuracy"


class Memorizing(Descent):
    """A descent whose validation loss rises again after step 60, with little data for a large model."""

    def run(self, rate: float, seed: int | None, steps: int, interventions: Sequence[str]) -> Run:
        named = dict(one.split("=", 1) for one in interventions)
        steps = int(named.get("steps", steps))
        run = super().run(rate, seed, steps, interventions)
        at = np.arange(9.0, steps, 10.0)
        risen = series(at, 0.4 + np.abs(at - 60) / 100 + 0.002 * (seed or 0))
        falling = series(np.arange(float(steps)), 0.5 / (1 + np.arange(float(steps))))
        setup = replace(run.setup, facts={"parameters": 100_000, "train_samples": 200})
        return replace(run, series={**run.series, "val/loss": risen, "train/loss": falling}, setup=setup)


def test_a_run_that_memorizes_is_stopped_at_its_best_validation(tmp_path: Path) -> None:
    report = searched(tmp_path, Memorizing(rate=0.02)).report
    assert report.applied == ("stop-early",), report.reason
    assert report.interventions == ("steps=60",)
    assert report.before is not None
    assert report.after is not None
    assert report.after.mean == pytest.approx(0.41, abs=0.03)
    assert report.before.mean > 2


def test_without_memorizing_it_is_not_tried(tmp_path: Path) -> None:
    report = searched(tmp_path, Descent(rate=0.3)).report
    assert "stop-early" not in {t.fix for t in report.trials}
