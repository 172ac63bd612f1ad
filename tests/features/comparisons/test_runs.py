"""Comparing runs: who is best, and when nobody can say."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.features.statistics.test_end_levels import noise
from tests.make import rng, run
from traindx.features.comparisons.runs import (
    Difference,
    compare,
    group_runs,
    unique_names,
    without_common_folder,
)
from traindx.vocabulary.run import Run
from traindx.vocabulary.setup import Setup


def falling(
    name: str, end: float, seed: int, *, n: int = 300, rho: float = 0.5, steps: object = None, **facts: float
) -> Run:
    values = end + np.linspace(2, 0, n) + 0.05 * noise(n, rho, rng(seed))
    return run({"train/loss": values}, steps=steps, name=name, setup=Setup(lr=facts.get("lr")))


def only(*runs: Run) -> Difference:
    (contest,) = compare(runs).contests
    (difference,) = contest.differences
    return difference


def test_the_better_run_wins() -> None:
    contest = compare((falling("a", 1.0, 1), falling("b", 0.5, 2))).contests[0]
    assert (contest.best, contest.direction) == ("b", "lower")
    (d,) = contest.differences
    assert d.verdict == "better"
    assert d.low < 0.5 < d.high


def test_higher_is_better_where_it_is() -> None:
    low = run({"val/accuracy": np.linspace(0, 0.7, 100)}, name="low")
    high = run({"val/accuracy": np.linspace(0, 0.8, 100)}, name="high")
    contest = compare((low, high)).contests[0]
    assert (contest.best, contest.direction) == ("high", "higher")
    assert contest.differences[0].difference < 0


@pytest.mark.parametrize("rho", [0.0, 0.7])
@pytest.mark.parametrize("shift", [0.0, 0.5])
def test_equal_runs_are_rarely_distinguished(rho: float, shift: float) -> None:
    wrong = 0
    for k in range(120):
        steps = np.arange(300) + shift
        d = only(falling("a", 1.0, 2 * k, rho=rho), falling("b", 1.0, 2 * k + 1, rho=rho, steps=steps))
        assert d.basis == ("unpaired" if shift else "paired by step")
        wrong += d.verdict == "better"
    assert wrong / 120 < 0.12  # 5 % asked for, 2 % standard error of this count


def test_shared_noise_cancels() -> None:
    shared = 0.5 * noise(300, 0.5, rng(5))
    a = run({"train/loss": 1.0 + shared}, name="a")
    b = run({"train/loss": 1.02 + shared + 1e-3 * rng(6).standard_normal(300)}, name="b")
    assert only(a, b).verdict == "better"
    apart = run({"train/loss": 1.02 + 0.5 * noise(300, 0.5, rng(7))}, name="b")
    assert only(a, apart).verdict == "within noise"


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_scale_does_not_matter(scale: float) -> None:
    a, b = falling("a", 1.0, 1), falling("b", 0.9, 2)
    scaled = [run({"train/loss": r.series["train/loss"].values * scale}, name=r.id) for r in (a, b)]
    plain, big = only(a, b), only(*scaled)
    assert big.verdict == plain.verdict
    assert big.difference == pytest.approx(plain.difference * scale)
    assert big.high == pytest.approx(plain.high * scale)


def test_a_run_that_ends_in_nan_loses() -> None:
    bad = run({"train/loss": np.concatenate([np.full(200, 0.1), np.full(100, math.nan)])}, name="bad")
    contest = compare((bad, falling("good", 1.0, 1))).contests[0]
    assert contest.best == "good"
    assert contest.differences[0].verdict == "better"
    assert contest.levels[0].best == pytest.approx(0.1)
    nobody = compare((bad, bad)).contests[0]
    assert (nobody.best, nobody.differences) == (None, ())


def test_different_lengths_are_also_compared_where_both_are() -> None:
    n = np.arange(2000)
    short = run({"train/loss": 3 - 0.001 * n[:1000] + 0.01 * noise(1000, 0.3, rng(1))}, name="short")
    long = run({"train/loss": 3 - 0.001 * n + 0.01 * noise(2000, 0.3, rng(2))}, name="long")
    contest = compare((short, long)).contests[0]
    assert contest.best == "long"
    assert contest.differences[0].verdict == "better"
    (shared,) = contest.shared
    assert (shared.at, shared.verdict) == (999.0, "within noise")


def test_too_few_points() -> None:
    a, b = run({"val/loss": [3.0, 2.0, 1.0]}, name="a"), run({"val/loss": [3.0, 2.0, 1.5]}, name="b")
    assert only(a, b).verdict == "cannot tell"


def test_seeds_form_groups() -> None:
    runs = [
        falling(n, 1.0, i, lr=0.1)
        for i, n in enumerate(("base_seed1", "base-seed-2", "base_seed3", "v1", "v2"))
    ]
    names = [r.id for r in runs]
    assert [(g.name, g.members) for g in group_runs(names[:3:2] + names[3:], runs[:3:2] + runs[3:])] == [
        ("base", ("base_seed1", "base_seed3")),
        ("v", ("v1", "v2")),
    ]


def test_runs_with_different_setups_are_no_seeds_of_each_other() -> None:
    runs = [falling("lr1", 1.0, 1, lr=0.1), falling("lr2", 1.0, 2, lr=0.2)]
    assert [g.members for g in group_runs([r.id for r in runs], runs)] == [("lr1",), ("lr2",)]


def test_groups_know_the_variation_between_seeds() -> None:
    draws = rng(8)
    wrong = 0
    for k in range(40):
        shifts = 0.3 * draws.standard_normal(6)  # far more than the noise within a run
        runs = tuple(
            falling(f"{'ab'[i // 3]}_seed{i}", 1 + s, 100 * k + i, lr=0.1) for i, s in enumerate(shifts)
        )
        d = only(*runs)
        assert d.basis == "seeds"
        wrong += d.verdict == "better"
    assert wrong / 40 < 0.2
    clear = tuple(falling(f"{'ab'[i // 3]}_seed{i}", 1 + i // 3, i, lr=0.1) for i in range(6))
    assert only(*clear).verdict == "better"


def test_names_and_setups() -> None:
    assert unique_names(["a", "b", "a"]) == ("a", "b", "a (2)")
    first = run({"train/loss": np.arange(9.0)}, name="a", setup=Setup(lr=0.1, batch_size=8, facts={"x": 1}))
    second = run({"train/loss": np.arange(9.0)}, name="b", setup=Setup(lr=0.1, batch_size=16))
    assert [(f.name, f.values) for f in compare((first, second)).setup] == [
        ("batch_size", (8, 16)),
        ("x", (1, None)),
    ]


def test_signals_without_a_direction_are_left_out() -> None:
    signals = {
        "lr": np.ones(20),
        "epoch": np.arange(20.0),
        "grad_norm": np.ones(20),
        "throughput": np.ones(20),
    }
    assert [c.signal for c in compare((run(signals), run(signals))).contests] == ["throughput"]


def test_common_folders_are_left_out() -> None:
    assert without_common_folder(["/a/b/x.csv#1", "/a/b/y.csv"]) == ["x.csv#1", "y.csv"]
    assert without_common_folder(["/a/bc/x", "/a/bd/x"]) == ["bc/x", "bd/x"]
    assert without_common_folder(["a/b"]) == ["a/b"]
    assert without_common_folder([]) == []
