"""The search, on a training that is gradient descent on a parabola."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from traindx.errors import ExperimentFailed
from traindx.features.comparisons.rate_sweep import Suggestion
from traindx.lab.conduct.attempts import Attempt
from traindx.lab.conduct.experiment import Conducted
from traindx.lab.find_lr import TRIED, Plan, Start, good_range, search, try_rates
from traindx.vocabulary.run import Run, series

CURVATURE = 20.0


def rates_of(interventions: Sequence[str], steps: int) -> tuple[np.ndarray, int]:
    """The rates that interventions ask for, and the seed."""
    named = dict(i.split("=") for i in interventions if i != "lr=constant")
    if named["lr"].startswith("sweep:"):
        low, high, n = named["lr"].split(":")[1:]
        return np.geomspace(float(low), float(high), int(n))[:steps], int(named["seed"])
    return np.full(steps, float(named["lr"])), int(named["seed"])


def training(
    noise: float, limit: int = 10_000, crash_above: float = np.inf
) -> tuple[Start, list[tuple[str, ...]]]:
    """A script that makes at most `limit` steps, and raises where its loss is too high."""
    asked: list[tuple[str, ...]] = []

    def start(interventions: Sequence[str], steps: int, over: Callable[[Run], bool]) -> Attempt:
        asked.append(tuple(interventions))
        rates, seed = rates_of(interventions, min(steps, limit))
        chance = np.random.default_rng(seed)
        x, losses, status = 1.0, [], 0
        for rate in rates:
            losses.append(0.5 * CURVATURE * x * x + noise * chance.standard_normal())
            if losses[-1] > crash_above:
                status = 1
                break
            x = float(np.clip(x - rate * CURVATURE * x, -1e9, 1e9))
        at = np.arange(len(losses))
        built = {"lr": series(at, rates[: len(losses)]), "train/loss": series(at, np.array(losses))}
        run = Run(
            id="r", source="", format="traindx", framework="torch", series=built, originals={}, events=()
        )
        done = Conducted(
            Path(), "finished", status, 0, 0.1, "ValueError: too high", tuple(interventions), True, (), ()
        )
        return Attempt(done, run)

    return start, asked


def test_one_sweep_for_each_seed() -> None:
    start, asked = training(0.1)
    lines: list[str] = []
    swept = search(Plan(seeds=(3, 5)), start, lines.append)
    assert asked == [("lr=sweep:1e-07:10:200", "seed=3"), ("lr=sweep:1e-07:10:200", "seed=5")]
    assert [one.seed for one in swept.sweeps] == [3, 5]
    assert isinstance(swept.found, Suggestion)
    assert 0.1 / CURVATURE < swept.found.reading.suggested < 2 / CURVATURE
    assert len(lines) == 2
    trace = swept.sweeps[0].trace
    assert len(trace.rates) == len(trace.losses) == len(trace.smoothed)


def test_a_short_script_is_swept_in_fewer_steps() -> None:
    start, asked = training(0.1, limit=80)
    swept = search(Plan(), start, lambda _: None)
    assert [a[0].split(":")[-1] for a in asked] == ["200", "79", "79"]
    assert swept.steps == 79
    assert isinstance(swept.found, Suggestion)


def test_a_script_that_is_much_too_short() -> None:
    start, _ = training(0.1, limit=20)
    with pytest.raises(ExperimentFailed, match="finished, with 19 usable steps"):
        search(Plan(), start, lambda _: None)


def test_noise_is_met_with_more_steps_once() -> None:
    start, asked = training(1e4)
    swept = search(Plan(), start, lambda _: None)
    assert [a[0].split(":")[-1] for a in asked] == ["200", "200", "600", "600"]
    assert isinstance(swept.found, str)


def test_a_script_that_fails_as_the_rate_rises_has_diverged() -> None:
    start, asked = training(0.01, crash_above=50.0)
    swept = search(Plan(), start, lambda _: None)
    assert len(asked) == 2
    assert all(one.sweep.diverged for one in swept.sweeps)
    assert isinstance(swept.found, Suggestion)


def test_a_rate_that_does_not_rise() -> None:
    inner, _ = training(0.1)
    with pytest.raises(ExperimentFailed, match="did not rise"):
        search(Plan(), lambda what, steps, over: inner(("lr=0.01", "seed=0"), steps, over), lambda _: None)


def test_no_record() -> None:
    def start(interventions: Sequence[str], steps: int, over: Callable[[Run], bool]) -> Attempt:
        attempt = training(0.1)[0](interventions, steps, over)
        return Attempt(attempt.conducted, None, "the script never imported torch")

    with pytest.raises(ExperimentFailed, match="never imported torch"):
        search(Plan(), start, lambda _: None)


def test_constant_rates_around_the_suggestion() -> None:
    start, asked = training(0.001)
    tried = try_rates(Plan(seeds=(0, 1)), 0.01, 100, start, lambda _: None)
    assert len(tried) == len(asked) == 2 * len(TRIED)
    assert asked[0] == ("lr=0.000316", "lr=constant", "seed=0")
    by_rate = {one.rate: one.loss for one in tried}
    assert np.isnan(by_rate[0.316])  # above 2 / curvature
    assert by_rate[0.01] == pytest.approx(0, abs=0.01)
    assert by_rate[0.000316] == pytest.approx(10 * (1 - 0.000316 * CURVATURE) ** (2 * 95), rel=0.01)
    assert good_range(tried, start=10.0) == (0.001, 0.0316)
