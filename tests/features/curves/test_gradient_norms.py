"""The size of the gradient: its level, its excursions, and what the objective did."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest

from tests import make
from traindx.features.curve import Curve
from traindx.features.curves import gradient_norms
from traindx.features.shared import Features
from traindx.vocabulary.rule import CannotJudge
from traindx.vocabulary.run import series


def curve(values: object, name: str = "train/loss") -> Curve:
    array = np.asarray(values, dtype=float)
    return Curve(name, series(np.arange(len(array)), array))


@pytest.mark.parametrize("n", [40, 300, 4000])
def test_baseline_is_the_median_of_noise(n: int) -> None:
    logs = make.rng(n).standard_normal(n)
    assert np.median(gradient_norms.baseline(logs)) == pytest.approx(
        0.0, abs=4 * 1.2533 / np.sqrt(n)
    )  # four standard errors of a median


def test_baseline_is_not_lifted_by_excursions() -> None:
    logs = 0.1 * make.rng(1).standard_normal(640)
    lifted = logs.copy()
    lifted[300:330] += 5.0  # three of 64 blocks
    assert np.abs(gradient_norms.baseline(lifted) - gradient_norms.baseline(logs)).max() < 0.1
    short = np.array([0.0, 0.1, -0.1, 3.0, 5.0, 6.0, 5.5, 4.0, 3.0, 0.0, 0.1])
    assert gradient_norms.baseline(short) == pytest.approx(np.zeros(11), abs=0.05)


def test_excursions_are_found_and_joined() -> None:
    values = np.exp(0.1 * make.rng(2).standard_normal(500))
    values[200:204] = [20, 60, 15, 1.0]
    values[204] = 30
    values[400] = 100
    found = gradient_norms.excursions(values, factor=10.0, score=6.0)
    assert [(e.start, e.stop, e.peak) for e in found] == [(200, 205, 201), (400, 401, 400)]
    assert found[1].factor == pytest.approx(100, rel=0.15)


def test_no_excursions_in_heavy_tails_nor_at_the_start() -> None:
    rng = make.rng(3)
    assert not any(
        gradient_norms.excursions(np.exp(rng.standard_normal(300)), factor=10.0, score=6.0)
        for _ in range(50)
    )
    opening = np.r_[80.0, 60.0, 30.0, np.exp(0.1 * rng.standard_normal(300))]
    assert gradient_norms.excursions(opening, factor=10.0, score=6.0) == []


@pytest.mark.parametrize("unit", [1.0, 1e-6, 1e5])
def test_verdicts_on_the_objective_do_not_hang_on_its_unit(unit: float) -> None:
    falling, rising = (
        curve(unit * make.healthy_loss()),
        curve(unit * np.r_[make.healthy_loss(300), np.full(100, 1.5)]),
    )
    assert gradient_norms.has_improved(falling, share=0.5, score=8.0)
    assert gradient_norms.share_lost(falling) == pytest.approx(
        gradient_norms.share_lost(curve(make.healthy_loss()))
    )
    assert not gradient_norms.is_worse_after(falling, 300.0, share=0.1, score=4.0)
    assert gradient_norms.is_worse_after(rising, 300.0, share=0.1, score=4.0)


def test_a_loss_that_ends_in_nan_is_worse_and_one_that_comes_back_is_not() -> None:
    lost, back = make.healthy_loss(), make.healthy_loss()
    lost[350:] = np.nan
    back[350:355] = np.nan
    assert gradient_norms.is_worse_after(curve(lost), 340.0, share=0.1, score=4.0)
    assert not gradient_norms.is_worse_after(curve(back), 340.0, share=0.1, score=4.0)


def test_rewards_are_better_when_higher() -> None:
    assert gradient_norms.has_improved(curve(np.linspace(10, 200, 50), "train/reward"), share=0.5, score=8.0)
    assert not gradient_norms.has_improved(
        curve(np.linspace(200, 10, 50), "train/reward"), share=0.5, score=8.0
    )


def test_printed_step() -> None:
    assert gradient_norms.printed_step(np.array([1.25, 0.5, 0.0])) == pytest.approx(0.01)
    assert gradient_norms.printed_step(np.array([3.0, 12.0])) == 1.0
    assert gradient_norms.printed_step(np.array([0.123, 4.567])) == pytest.approx(0.001)
    assert gradient_norms.printed_step(make.rng(5).random(20)) == 0.0
    assert gradient_norms.printed_step(np.empty(0)) == 1.0


def test_clip_ratios() -> None:
    def ratios(signals: dict[str, list[float]], clip: float | None = None) -> list[float]:
        run = make.run({name: np.array(values) for name, values in signals.items()})
        setup = run.setup if clip is None else run.setup.with_facts({"clip_norm": clip}, "test")
        return list(gradient_norms.clip_ratios(Features(msgspec.structs.replace(run, setup=setup)))[1])

    norm = [0.5, 2.0, 10.0]
    assert ratios({"grad_norm": norm}, 1.0) == pytest.approx([1.0, 0.5, 0.1])
    assert ratios({"grad_norm": norm, "clip_ratio": [1.0, 0.4, 0.4]}, 1.0) == pytest.approx([1.0, 0.4, 0.4])
    for unknown in ({"clip_ratio": [0.0, 55.0]}, {"grad_norm": norm}):
        with pytest.raises(CannotJudge):
            ratios(unknown)


def test_suffering_is_a_lost_loss_or_lost_gradients() -> None:
    fine = make.run({"train/loss": make.healthy_loss(), "grad_norm": np.ones(400)})
    norms = np.ones(400)
    norms[200:205] = np.inf
    gone = make.run({"train/loss": make.healthy_loss(), "grad_norm": norms})
    assert not gradient_norms.is_worse_from(Features(fine), 100.0, share=0.1, score=4.0)
    assert gradient_norms.is_worse_from(Features(gone), 100.0, share=0.1, score=4.0)
    assert not gradient_norms.is_worse_from(Features(gone), 300.0, share=0.1, score=4.0)
