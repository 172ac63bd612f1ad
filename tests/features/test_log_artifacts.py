"""Logs that are wrong, and correct ones that resemble them."""

from __future__ import annotations

import numpy as np
import pytest

from tests import make
from tests.loops import Loop, trained
from traindx.features import log_artifacts
from traindx.vocabulary.run import Event, Run, series
from traindx.vocabulary.setup import Setup


def codes(run: Run) -> list[str]:
    return [e.code for e in log_artifacts.suspicions(run)]


def bfloat16(values: np.ndarray) -> np.ndarray:
    """Rounded to bfloat16 by its bits: the upper half of a float32, to nearest."""
    bits = values.astype(np.float32).view(np.uint32).astype(np.uint64)
    return ((bits + 0x8000) & 0xFFFF0000).astype(np.uint32).view(np.float32).astype(np.float64)


HONEST = {
    "a loss": {"train/loss": make.healthy_loss()},
    "with four decimals": {"train/loss": np.round(make.healthy_loss(), 4)},
    "with one decimal": {"train/loss": np.round(make.healthy_loss(), 1)},
    "whole numbers": {"train/loss": np.round(200 * make.healthy_loss())},
    "with gradients": {"train/loss": make.healthy_loss(), "grad_norm": make.healthy_loss(seed=1)},
    "policy gradients: the loss is 0 by construction": {
        "train/loss": np.zeros(50), "grad_norm": 0.1 + 0.01 * make.rng(1).random(50), "train/reward": np.arange(50.0),
    },
    "a rate that is zero": {"train/loss": make.healthy_loss(), "lr": np.zeros(400)},
    "memorized": {"train/loss": np.geomspace(2, 1e-9, 400), "grad_norm": np.geomspace(2, 1e-9, 400)},
    "flat, and gradients really zero": {"train/loss": np.full(40, 2.302585), "grad_norm": np.zeros(40)},
    "empty": {"train/loss": np.empty(0)},
    "empty next to a norm": {"train/loss": np.empty(0), "grad_norm": [np.nan, 1.0]},
    "one row": {"train/loss": [2.0], "grad_norm": [np.nan]},
}  # fmt: skip


@pytest.mark.parametrize("name", HONEST)
def test_honest_logs_are_believed(name: str) -> None:
    run = make.run(HONEST[name])
    assert codes(run) == []
    assert log_artifacts.repair_run(run) is run


def test_really_trained_runs_are_believed() -> None:
    for loop in (Loop(), Loop(momentum=0.9, lr=0.02), Loop(depth=30, gain=2.8, lr=0.01), Loop(clip=1e-3)):
        assert codes(trained(loop)) == []


def test_nan_filtered_to_zero_next_to_a_nan_norm_is_certain() -> None:
    loss, norm = make.healthy_loss(100), np.ones(100)
    loss[60:], norm[60:] = 0.0, np.nan
    run = make.run({"train/loss": loss, "grad_norm": norm})
    (event,) = log_artifacts.suspicions(run)
    assert (event.kind, event.code, event.step) == ("log-suspect", "nan-filtered-to-zero", 60.0)
    repaired = log_artifacts.repair_run(run).series["train/loss"].values
    assert np.isnan(repaired[60:]).all()
    assert repaired[:60].tolist() == loss[:60].tolist()
    assert np.isfinite(run.series["train/loss"].values).all(), "the run itself is left alone"


def test_a_zero_next_to_a_norm_of_another_step_is_kept() -> None:
    run = make.run(
        {"train/loss": ([0, 1, 2, 3], [1.0, 0.0, 0.8, 0.9]), "grad_norm": ([0, 2, 3], [1.0, np.nan, 1.0])}
    )
    assert log_artifacts.repair_run(run) is run


def test_a_sudden_zero_to_the_end_is_suspect_but_kept() -> None:
    loss, norm = make.healthy_loss(100), np.ones(100)
    loss[60:], norm[60:] = 0.0, 0.0
    run = make.run({"train/loss": loss, "grad_norm": norm})
    assert codes(run) == ["nan-filtered-to-zero"]
    assert log_artifacts.repair_run(run) is run
    rate = np.linspace(1e-3, 1e-4, 100)
    rate[60:] = rate[59]
    assert codes(make.run({"train/loss": loss, "lr": rate})) == ["nan-filtered-to-zero"]
    assert codes(make.run({"train/loss": loss, "lr": np.linspace(1e-3, 1e-4, 100)})) == []


def test_a_loss_that_repeats_next_to_a_nan_norm() -> None:
    loss, norm = make.healthy_loss(100), np.ones(100)
    loss[60:64], norm[60:64] = loss[60], np.nan
    run = make.run({"train/loss": loss, "grad_norm": norm})
    assert codes(run) == ["nan-filtered-to-zero"]
    assert log_artifacts.repair_run(run) is run


def test_frozen_value() -> None:
    loss = make.healthy_loss(200)
    loss[120:140] = loss[120]
    (event,) = log_artifacts.suspicions(make.run({"train/loss": loss}))
    assert (event.code, event.step) == ("frozen-value", 120.0)
    coarse = np.round(make.healthy_loss(200), 1)
    assert log_artifacts.frozen_ranges(coarse) == []


def test_frozen_ranges_match_a_naive_scan() -> None:
    rng = make.rng(3)
    for _ in range(50):
        values = rng.random(120)
        at, length = int(rng.integers(20, 80)), int(rng.integers(2, 12))
        values[at : at + length] = values[at]
        assert log_artifacts.frozen_ranges(values) == ([(at, at + length)] if length >= 5 else [])


def epochs(mean: bool, *, count: int = 6, rows: int = 60, seed: int = 1) -> Run:
    """A loss with batch noise, logged as it is or as the mean since the epoch's start."""
    loss = make.healthy_loss(count * rows, noise=0.2, seed=seed).reshape(count, rows)
    shown = np.cumsum(loss, axis=1) / np.arange(1, rows + 1) if mean else loss
    return make.run({"train/loss": shown.ravel(), "epoch": np.arange(count * rows) / rows})


def test_running_mean_since_the_epochs_start() -> None:
    assert all(codes(epochs(True, seed=s)) == ["running-mean"] for s in range(20))
    assert not any("running-mean" in codes(epochs(False, seed=s)) for s in range(50))
    assert "running-mean" not in codes(epochs(True, count=2))  # too few epochs to decide


def test_downsampled_history() -> None:
    rng = make.rng(4)
    kept = np.sort(rng.permutation(30_000)[:1000])
    sampled = make.run({"train/loss": (kept, make.healthy_loss(1000))})
    assert codes(sampled) == ["downsampled-history"]
    assert codes(make.run({"train/loss": (np.arange(1000) * 10, make.healthy_loss(1000))})) == []
    assert codes(make.run({"train/loss": (kept[:997], make.healthy_loss(997))})) == []


def test_coarse_values() -> None:
    loss = make.healthy_loss(400, floor=1.2)
    assert codes(make.run({"train/loss": bfloat16(loss)})) == ["coarse-values"]
    assert codes(make.run({"train/loss": np.round(bfloat16(loss), 4)})) == ["coarse-values"]
    assert codes(make.run({"train/loss": loss.astype(np.float32)})) == []
    assert not log_artifacts.bfloat16_grid(bfloat16(loss)[:10]), "too few to decide"


def test_a_loss_multiplied_by_the_accumulated_steps() -> None:
    val = (np.arange(0, 400, 50), 1.02 * make.healthy_loss()[::50])
    shown = {"train/loss": 8 * make.healthy_loss(), "val/loss": val}
    assert codes(make.run(shown, setup=Setup(accumulation=8))) == ["accumulation-scaled"]
    assert codes(make.run(shown, setup=Setup(accumulation=4))) == []
    assert codes(make.run(shown)) == []
    honest = {"train/loss": make.healthy_loss(), "val/loss": val}
    assert codes(make.run(honest, setup=Setup(accumulation=8))) == []


def test_a_loss_that_falls_by_a_whole_factor_at_a_resume() -> None:
    loss = make.healthy_loss()
    loss[:200] *= 16
    resumed = (Event("resume", "goes on", 200.0),)
    assert codes(make.run({"train/loss": loss}, events=resumed)) == ["accumulation-scaled"]
    assert codes(make.run({"train/loss": make.healthy_loss()}, events=resumed)) == []
    assert codes(make.run({"train/loss": np.where(np.arange(400) < 200, 1.5, 1.0) * loss}, events=())) == []


def test_constants_that_mean_absent_are_left_out() -> None:
    loss = {"train/loss": make.healthy_loss(50)}
    run = make.run(
        {**loss, "grad_norm": np.zeros(50), "loss_scale": -np.ones(50), "util/device": np.zeros(50)}
    )
    assert codes(run) == ["constant-means-absent"] * 3
    assert set(log_artifacts.repair_run(run).series) == {"train/loss"}
    mfu = np.r_[-100.0, -100.0, 7.5 * np.ones(48)]
    kept = log_artifacts.repair_run(make.run({**loss, "train/mfu": mfu})).series["train/mfu"]
    assert (len(kept), kept.values.min(), kept.steps[0]) == (48, 7.5, 2.0)


def test_clamped_nan() -> None:
    for weight in (1, 3, 20):
        loss = np.r_[6.9 * weight, 8.1 * weight, np.full(5, round(87.336544 * weight, 3))]
        run = make.run({"train/loss": loss})
        assert codes(run) == ["clamped-nan"]
        assert (
            np.isnan(log_artifacts.repair_run(run).series["train/loss"].values).tolist()
            == [False] * 2 + [True] * 5
        )
    assert -np.log(np.finfo(np.float32).tiny) == pytest.approx(log_artifacts.CLAMPED)


def test_a_random_loss_is_not_taken_for_a_clamped_one() -> None:
    values = make.rng(5).uniform(50, 4000, 100_000)
    assert not log_artifacts.find_clamped(values).any()
    assert not log_artifacts.find_clamped(np.array([174.673, 90.0, np.nan, np.inf, -87.33654])).any()


def test_repair_keeps_times_and_steps() -> None:
    loss = series([5, 6, 7], [1.0, 0.0, 0.9], [100.0, 101.0, 102.0])
    run = make.run({"grad_norm": ([5, 6, 7], [1.0, np.inf, 1.0])})
    repaired = log_artifacts.repair_run(
        Run(id="r", source="r", format="made", series={**run.series, "train/loss": loss})
    )
    assert repaired.series["train/loss"].times is not None
    assert repaired.series["train/loss"].times.tolist() == [100.0, 101.0, 102.0]
    assert np.isnan(repaired.series["train/loss"].values).tolist() == [False, True, False]
