from __future__ import annotations

import math

import numpy as np
import pytest

from tests import make
from traindx.checks import facts as check_facts
from traindx.vocabulary.setup import Setup


def losses(values: object, **facts: object):  # type: ignore[no-untyped-def]
    return make.run({"train/loss": values}, setup=Setup().with_facts(facts, "test"))  # type: ignore[arg-type]


def test_the_same_losses_do_not_differ() -> None:
    y = make.healthy_loss(100)
    found = check_facts.compare_repeats(losses(y), losses(y))
    assert found == {"repeat_steps": 100, "repeat_difference": 0.0, "repeat_first_loss_difference": 0.0}


def test_a_difference_is_relative_and_placed() -> None:
    y = np.full(50, 2.0)
    other = y.copy()
    other[30:] += 0.1
    found = check_facts.compare_repeats(losses(y), losses(other[:40]))
    assert found["repeat_steps"] == 40
    assert found["repeat_first_difference"] == 30
    assert found["repeat_difference"] == pytest.approx(0.05)
    assert found["repeat_first_loss_difference"] == 0.0


def test_losses_that_are_nan_at_the_same_steps_are_the_same() -> None:
    y = np.array([2.0, 1.0, math.nan, math.nan])
    assert check_facts.compare_repeats(losses(y), losses(y))["repeat_difference"] == 0.0
    assert check_facts.compare_repeats(losses(y), losses([2.0, 1.0, 0.5, 0.2]))["repeat_difference"] == 1.0


def test_only_steps_that_both_recorded_are_compared() -> None:
    one = make.run({"train/loss": (np.arange(10), np.arange(10.0) + 1)})
    two = make.run({"train/loss": (np.arange(0, 10, 2), np.arange(0, 10.0, 2) + 1)})
    found = check_facts.compare_repeats(one, two)
    assert (found["repeat_steps"], found["repeat_difference"]) == (5, 0.0)
    assert check_facts.compare_repeats(one, make.run({"val/loss": [1.0]})) == {}


@pytest.mark.parametrize("rate", [0.01, 0.05])
def test_pace_is_the_share_gained_in_the_last_third(rate: float) -> None:
    y = 2.3 * np.exp(-rate * np.arange(300))
    found = check_facts.one_batch_facts(losses(y, loss="cross_entropy"))
    middle, end = np.median(y[180:200]), np.median(y[270:])
    assert found["one_batch_start"] == 2.3
    assert found["one_batch_end"] == pytest.approx(end)
    assert found["one_batch_pace"] == pytest.approx((middle - end) / middle)


def test_an_end_that_is_not_finite_is_nan() -> None:
    found = check_facts.one_batch_facts(losses([2.0] * 30 + [math.inf]))
    assert math.isnan(float(found["one_batch_end"]))
    assert "one_batch_pace" not in found


def test_a_rate_that_still_rises_is_a_warm_up() -> None:
    y = make.healthy_loss(90)
    rising = make.run({"train/loss": y, "lr": np.linspace(0, 1, 90)})
    level = make.run({"train/loss": y, "lr": np.full(90, 0.1)})
    assert check_facts.one_batch_facts(rising)["one_batch_warms_up"] is True
    assert check_facts.one_batch_facts(level)["one_batch_warms_up"] is False


@pytest.mark.parametrize(
    ("facts", "zero"),
    [
        ({"loss": "cross_entropy"}, True),
        ({"loss": "cross_entropy", "loss_target_dtype": "float32"}, False),
        ({"loss": "cross_entropy", "label_smoothing": 0.1}, False),
        ({"loss": "cross_entropy + mse_loss"}, False),
        ({"loss": "mse_loss"}, True),
        ({"loss": "binary_cross_entropy", "targets_binary": True}, True),
        ({"loss": "binary_cross_entropy", "targets_binary": False}, False),
        ({"loss": "gaussian_nll_loss"}, False),
        ({}, False),
    ],
)
def test_which_losses_end_at_zero(facts: dict[str, object], zero: bool) -> None:
    assert check_facts.floor_is_zero(Setup().with_facts(facts, "test")) is zero  # type: ignore[arg-type]


def test_a_lead_is_found_where_it_is_largest() -> None:
    """Both end at zero: the real labels were learned first."""
    t = np.arange(300)
    noise = make.rng(1).normal(0, 0.02, (2, 300))
    real, shuffled = 2.3 * np.exp(-t / 15) + noise[0], 2.3 * np.exp(-t / 90) + noise[1]
    found = check_facts.permuted_label_lead(losses(real, steps_per_epoch=25), losses(shuffled))
    second = slice(30, 60)
    assert float(found["real_advantage"]) == pytest.approx((shuffled[second] - real[second]).mean(), rel=0.2)
    assert float(found["real_advantage"]) > 10 * float(found["real_advantage_error"])
    assert found["real_epochs"] == 12


def test_no_lead_stays_within_chance() -> None:
    """The largest of ten leads between equal curves is hardly ever above three of its standard errors."""
    above = 0
    for seed in range(200):
        one, two = make.rng(seed).normal(2.3, 0.1, (2, 300))
        found = check_facts.permuted_label_lead(losses(one), losses(two))
        above += float(found["real_advantage"]) > 3 * float(found["real_advantage_error"])
    assert above < 10


def test_epochs_from_sizes_and_with_accumulation() -> None:
    assert check_facts.epochs(losses([1.0], dataset_size=1000, batch_size=50), 100) == 5
    assert check_facts.epochs(losses([1.0], steps_per_epoch=100, accumulation=4), 50) == 2
    assert check_facts.epochs(losses([1.0]), 50) == 0


def test_memory_is_that_of_the_place_where_the_model_is() -> None:
    sizes = {f"memory_{kind}": 1e9 for kind in ("weights", "gradients", "optimizer", "activations")}
    host = Setup(device="cpu").with_facts({**sizes, "host_memory": 16e9, "host_memory_used": 5e9}, "test")
    assert check_facts.resource_needs(host) == {
        "disk_needed": 4e9, "memory_available": 16e9, "memory_needed": 5e9, "memory_of": "machine",
    }  # fmt: skip
    device = Setup(device="cuda:0").with_facts({**sizes, "accelerator_memory": 80e9}, "test")
    assert check_facts.resource_needs(device)["memory_of"] == "accelerator"
    assert check_facts.resource_needs(Setup()) == {}


def test_waiting_for_data_is_a_share_of_the_step() -> None:
    run = make.run({"time/step": [0.2] * 10, "time/data": [0.05] * 10, "mem/host": [1e9, 3e9]})
    assert check_facts.pace(run) == {"time_step": 0.2, "time_data_share": 0.25, "host_memory_used": 3e9}
