"""What arms are compared by, and how far a run came by it."""

from __future__ import annotations

import math

import numpy as np
import pytest

from traindx.lab.judge.objectives import (
    ERROR_FLOOR,
    arm_levels,
    choose,
    gain,
    level,
    objective_of,
    other_objectives,
    speed_objective,
    spread,
)
from traindx.lab.judge.significance import CAP
from traindx.vocabulary.run import Run, series


def run(**signals: object) -> Run:
    measured = {n.replace("__", "/"): series(np.arange(len(v)), v) for n, v in signals.items()}  # type: ignore[arg-type]
    return Run(id="r", source="", format="traindx", series=measured)


FALLING = np.geomspace(2.0, 0.2, 100)
RISING = np.linspace(0.1, 0.9, 20)


def test_a_metric_on_held_out_data_comes_first_then_its_loss_then_training() -> None:
    everything = run(train__loss=FALLING, val__loss=FALLING, val__accuracy=RISING, outputs_accuracy=RISING)
    assert choose(everything, ["lr=*0.1"]).signal == "val/accuracy"
    assert choose(run(train__loss=FALLING, val__loss=FALLING), ["lr=*0.1"]).signal == "val/loss"
    assert (
        choose(run(train__loss=FALLING, outputs_accuracy=RISING), ["lr=*0.1"]).signal == "outputs_accuracy"
    )
    assert choose(run(train__loss=FALLING), ["lr=*0.1"]).signal == "train/loss"


def test_a_number_whose_meaning_the_change_alters_is_not_compared() -> None:
    plain = run(train__loss=FALLING, val__loss=FALLING)
    assert choose(plain, ["logits=on"]).signal == ""
    assert (
        choose(run(train__loss=FALLING, outputs_accuracy=RISING), ["logits=on"]).signal == "outputs_accuracy"
    )
    assert choose(plain, ["mode=train"]).signal == "val/loss"
    assert choose(run(train__loss=FALLING), ["data=shuffle"]).signal == ""


def test_that_a_loss_stays_finite_is_a_gain_whatever_it_means() -> None:
    broken = run(train__loss=[2.0, 5.0, math.nan])
    assert choose(broken, ["drop=outliers"]).signal == "train/loss"


def test_a_cause_about_speed_is_judged_by_the_time_of_a_step() -> None:
    slow = run(train__loss=FALLING, val__accuracy=RISING, time__step=[0.2] * 50)
    assert choose(slow, ["workers=8"], "data-loader-bottleneck").signal == "time/step"
    assert choose(slow, ["workers=8"], "learning-rate-too-high").signal == "val/accuracy"


def test_imbalance_is_judged_by_what_a_rare_class_counts_in() -> None:
    printed = run(
        val__accuracy=RISING, val__recall=RISING, val__macro_f1=RISING, outputs_balanced_accuracy=RISING
    )
    spec, cause = ["class_weights=balanced"], "class-imbalance"
    assert choose(printed, spec, cause).signal == "val/macro_f1"
    short = run(val__accuracy=RISING, val__bal_acc=RISING, outputs_balanced_accuracy=RISING)
    assert choose(short, spec, cause).signal == "val/bal_acc"
    assert choose(printed, spec, cause, asked=("val/accuracy", "higher")).signal == "val/accuracy"
    assert choose(printed, ["lr=*0.1"], "learning-rate-too-high").signal == "val/accuracy"
    seen = run(val__accuracy=RISING, outputs_balanced_accuracy=RISING)
    assert choose(seen, spec, cause).signal == "outputs_balanced_accuracy"
    assert choose(seen, ["lr=*0.1"], "learning-rate-too-high").signal == "val/accuracy"


def test_other_metrics_are_those_whose_meaning_stays() -> None:
    printed = run(train__loss=FALLING, val__loss=FALLING, val__accuracy=RISING, val__recall=RISING)
    assert [o.signal for o in other_objectives(printed, ["class_weights=balanced"], "val/recall")] == [
        "val/accuracy"
    ]
    assert [o.signal for o in other_objectives(printed, ["lr=*0.1"], "val/accuracy")] == [
        "val/recall",
        "val/loss",
    ]


def test_the_user_names_a_metric_with_or_without_its_split() -> None:
    assert choose(run(train__loss=FALLING, val__f2=RISING), [], asked=("f2", "higher")).signal == "val/f2"


def test_an_accuracy_gains_in_the_errors_that_are_left_and_percent_are_no_other() -> None:
    share = objective_of(run(val__accuracy=RISING), "val/accuracy", "higher", "")
    percent = objective_of(run(val__accuracy=100 * RISING), "val/accuracy", "higher", "")
    expected = math.log((0.5 + ERROR_FLOOR) / (0.25 + ERROR_FLOOR))
    assert gain(0.5, 0.75, share) == pytest.approx(expected)
    assert gain(50.0, 75.0, percent) == pytest.approx(expected)


def test_a_loss_gains_by_its_ratio_and_next_to_nothing_is_nothing() -> None:
    objective = objective_of(run(train__loss=FALLING), "train/loss", "lower", "")
    assert gain(2.0, 1.0, objective) == pytest.approx(math.log(2), abs=0.01)
    assert gain(1.0, 2.0, objective) == pytest.approx(-math.log(2), abs=0.01)
    assert abs(gain(1e-6, 1e-8, objective)) < 0.01


def test_a_loss_below_zero_gains_by_what_it_had_moved() -> None:
    objective = objective_of(run(train__loss=np.linspace(1.0, -4.0, 50)), "train/loss", "lower", "")
    assert gain(-4.0, -5.0, objective) == pytest.approx(1 / 5)


@pytest.mark.parametrize(("before", "after", "expected"), [(math.inf, 1.0, CAP), (1.0, math.inf, -CAP)])
def test_what_is_not_finite_has_lost(before: float, after: float, expected: float) -> None:
    assert gain(before, after, objective_of(run(train__loss=FALLING), "train/loss", "lower", "")) == expected
    assert gain(before, before, objective_of(run(train__loss=FALLING), "train/loss", "lower", "")) in (
        0.0,
        expected * 0,
    )


def test_the_level_is_that_of_the_end_by_a_common_step() -> None:
    steps = run(val__loss=np.concatenate([np.full(50, 3.0), np.full(50, 1.0)]))
    objective = objective_of(steps, "val/loss", "lower", "")
    assert level(steps, objective) == 1.0
    assert level(steps, objective, until=49) == 3.0
    assert math.isnan(level(run(train__loss=FALLING), objective))
    assert level(run(val__loss=[1.0, math.nan]), objective) == math.inf


def test_a_side_has_students_interval() -> None:
    half = 4.303 / math.sqrt(3)  # the quantile of two degrees of freedom, from a table
    for values, low in (
        ([11.0, 12.0, 13.0], 12 - half),
        ([1.0, 2.0, 3.0], 0.0),
        ([-3.0, -2.0, -1.0], -2 - half),
    ):
        found = arm_levels(values)
        assert found is not None
        assert found.mean == sum(values) / 3
        assert found.interval == pytest.approx((low, found.mean + half), abs=1e-3)
    assert arm_levels([math.nan]) is None


def test_the_spread_between_seeds_is_a_gain() -> None:
    objective = objective_of(run(time__step=FALLING), "time/step", "lower", "")
    assert spread([1.0, math.e], objective) == pytest.approx(1 / math.sqrt(2))
    assert spread([1.0], objective) is None


def learned(tau: float, floor: float = 0.05) -> Run:
    """An accuracy whose errors die out with `tau` steps."""
    steps = np.arange(0, 410, 10.0)
    measured = series(steps, 1 - floor - 0.4 * np.exp(-steps / tau))
    return Run(id="r", source="", format="traindx", series={"val/accuracy": measured})


def test_of_runs_that_end_equal_the_faster_one_gains() -> None:
    slow, fast = learned(80.0), learned(40.0)
    objective = speed_objective(slow, choose(slow, []))
    assert objective is not None
    errors = objective.unit
    assert 1 - errors == pytest.approx(1.1 * (0.055 + 0.4 * math.exp(-380 / 80)) - ERROR_FLOOR, rel=0.02)
    there = [80.0 * math.log(0.4 / (1 - errors - 0.05)), 40.0 * math.log(0.4 / (1 - errors - 0.05))]
    found = [level(one, objective) for one in (slow, fast)]
    assert found == pytest.approx(there, abs=11)  # two points 10 steps apart are put together
    assert gain(*found, objective) == pytest.approx(math.log(2), abs=0.06)
    assert gain(*found[::-1], objective) == pytest.approx(-math.log(2), abs=0.06)


def test_one_that_never_comes_there_has_taken_all_its_steps() -> None:
    slow = learned(80.0)
    objective = speed_objective(slow, choose(slow, []))
    assert objective is not None
    assert level(learned(80.0, floor=0.3), objective) == 400


def test_a_score_reached_at_once_has_no_speed() -> None:
    at_once = learned(2.0)
    assert speed_objective(at_once, choose(at_once, [])) is None
    lasts = run(train__loss=FALLING, time__step=[0.2] * 50)
    assert speed_objective(lasts, choose(lasts, [], "data-loader-bottleneck")) is None
