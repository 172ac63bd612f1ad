"""Advice for a run that is well: each from what the run shows, and none from one that shows nothing of it."""

from __future__ import annotations

import numpy as np
import pytest

from traindx.lab.repair.improvements import further_advice
from traindx.vocabulary.run import Run, Series, series
from traindx.vocabulary.setup import Setup
from traindx.vocabulary.trial import Answering

STEPS = np.arange(400, dtype=np.float64)
CHANCE = np.random.default_rng(5)


def curve(values: np.ndarray, steps: np.ndarray = STEPS) -> Series:
    return series(steps, np.asarray(values, dtype=np.float64))


def settled(level: float, swing: float = 0.002) -> np.ndarray:
    """Falls from 2 above `level` to it within a tenth of the run."""
    return level + 2.0 * np.exp(-STEPS / 15) + swing * CHANCE.standard_normal(len(STEPS))


def advice(
    setup: Setup = Setup(), answering: Answering | None = None, **signals: np.ndarray
) -> dict[str, str]:
    """Texts by kind."""
    curves = {name.replace("__", "/"): curve(values) for name, values in signals.items()}
    run = Run(id="r", source="", format="traindx", framework="torch", series=curves, setup=setup)
    return {one.kind: f"{one.text} {one.because}" for one in further_advice(run, answering)}


def test_a_loss_that_follows_a_power_law_is_forecast_for_twice_as_long() -> None:
    losses = 3.0 * (1 + STEPS) ** -0.35 + 0.002 * CHANCE.standard_normal(len(STEPS))
    found = advice(train__loss=losses)["train longer"]
    assert "step 798" in found
    forecast = float(found.split("the end, and ")[1].split(" is forecast")[0])
    assert forecast == pytest.approx(3.0 * 799**-0.35, rel=0.1)
    assert "train longer" not in advice(train__loss=settled(0.3))


def test_a_constant_rate_at_which_the_loss_swings_is_to_fall() -> None:
    rate = np.full(len(STEPS), 0.1)
    assert "0.1" in advice(train__loss=settled(0.3, 0.05), lr=rate)["schedule"]
    assert "schedule" not in advice(train__loss=settled(0.3, 0.001), lr=rate)
    assert "schedule" not in advice(
        train__loss=settled(0.3, 0.05), lr=rate * np.linspace(1, 0.01, len(STEPS))
    )


def test_a_gap_asks_for_regularization_and_where_there_is_some_for_data() -> None:
    gap = {"train__loss": settled(0.2), "val__loss": settled(0.5)}
    assert "weight decay" in advice(**gap)["regularization"]
    assert "dropout" in advice(Setup(weight_decay=0.01), **gap)["regularization"]
    both = advice(Setup(weight_decay=0.01, facts={"dropout": 0.1}), **gap)
    assert "samples" in both["data"]
    assert not {"regularization", "data"} & set(advice(train__loss=settled(0.2), val__loss=settled(0.21)))


def test_a_loss_that_stays_high_for_both_asks_for_capacity() -> None:
    assert (
        "5,000 parameters"
        in advice(Setup(parameters=5000), train__loss=settled(1.5), val__loss=settled(1.5))["capacity"]
    )
    assert "capacity" not in advice(train__loss=settled(0.1), val__loss=settled(0.1))
    assert "capacity" not in advice(train__loss=settled(1.5), val__loss=settled(2.5))


def test_large_first_gradients_at_the_full_rate_ask_for_a_warm_up() -> None:
    norms = np.where(STEPS < 6, 20.0, 1.0)
    flat = np.full(len(STEPS), 0.1)
    assert "20 times" in advice(grad_norm=norms, lr=flat)["warm-up"]
    assert "warm-up" not in advice(grad_norm=np.ones(len(STEPS)), lr=flat)
    assert "warm-up" not in advice(grad_norm=norms, lr=np.minimum(flat, 0.1 * (STEPS + 1) / 50))
    assert "warm-up" not in advice(Setup(warmup_steps=50), grad_norm=norms, lr=flat)


def test_a_step_that_waits_for_data_asks_for_workers() -> None:
    step = np.full(len(STEPS), 0.01)
    assert "40 %" in advice(time__step=step, time__data=0.4 * step)["loader"]
    assert "loader" not in advice(time__step=step, time__data=0.05 * step)


@pytest.mark.parametrize(("optimizer", "rate"), [("SGD", "0.4"), ("AdamW", "0.2")])
def test_a_call_that_is_mostly_overhead_asks_for_larger_batches_with_their_rate(
    optimizer: str, rate: str
) -> None:
    setup = Setup(optimizer=optimizer, lr=0.1, batch_size=16)
    cheap = Answering(p50=1e-3, p95=1e-3, batch=16, batch_p50=1.2e-3, batch_p95=1.3e-3)
    assert f"batches of 64 with a rate of {rate} " in advice(setup, cheap)["batch size"]
    expensive = Answering(p50=1e-3, p95=1e-3, batch=16, batch_p50=9e-3, batch_p95=9e-3)
    assert "batch size" not in advice(setup, expensive)


def test_long_runs_whose_time_is_the_passes_ask_for_a_compiler() -> None:
    step = np.full(len(STEPS), 4.0)
    passes = {"time__forward": 0.4 * step, "time__backward": 0.5 * step}
    assert "27 min" in advice(time__step=step, **passes)["compile"]
    assert "compile" not in advice(Setup(facts={"compiled": True}), time__step=step, **passes)
    assert "compile" not in advice(
        time__step=step / 100, time__forward=step / 200, time__backward=step / 200
    )
    assert "compile" not in advice(time__step=step, time__forward=0.1 * step)


def test_what_is_known_already_is_not_said_twice_and_six_are_the_most() -> None:
    setup = Setup(optimizer="SGD", lr=0.1, batch_size=16)
    step = np.full(len(STEPS), 4.0)
    signals = {
        "train/loss": curve(settled(1.5, 0.2)), "val/loss": curve(settled(4.0, 0.01)),
        "lr": curve(np.full(len(STEPS), 0.1)), "grad_norm": curve(np.where(STEPS < 6, 20.0, 1.0)),
        "time/step": curve(step), "time/data": curve(0.2 * step), "time/forward": curve(0.8 * step),
    }  # fmt: skip
    run = Run(id="r", source="", format="traindx", framework="torch", series=signals, setup=setup)
    fast = Answering(p50=1e-3, p95=1e-3, batch=16, batch_p50=1.2e-3, batch_p95=1.3e-3)
    found = further_advice(run, fast)
    assert len({one.kind for one in found}) == len(found) <= 6
    assert "schedule" in {one.kind for one in found}
    again = further_advice(run, fast, found[:1])
    assert found[0].kind not in {one.kind for one in again}
