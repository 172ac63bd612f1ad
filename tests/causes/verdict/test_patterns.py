from __future__ import annotations

import msgspec
import numpy as np
import pytest

from tests import lookalikes, make
from tests.causes.made import all_but, fired, plain_run
from traindx import pipeline
from traindx.causes import pattern
from traindx.features.shared import Features
from traindx.vocabulary.rule import Outcome
from traindx.vocabulary.run import Run
from traindx.vocabulary.setup import Setup


def shape(*outcomes: Outcome, run: Run) -> str | None:
    return pattern(all_but(*outcomes), run, Features(run))


def test_converged_and_still_learning_differ_in_their_end() -> None:
    level = 1.0 + np.exp(-np.arange(400) / 30) + 0.01 * make.rng(0).standard_normal(400)
    falling = np.linspace(3, 1, 400) + 0.01 * make.rng(1).standard_normal(400)
    assert shape(run=plain_run(train__loss=level)) == "converged"
    assert shape(run=plain_run(train__loss=falling)) == "still-learning"


def test_a_fall_in_the_first_rows_alone_is_not_still_learning() -> None:
    rows = np.arange(88)
    level = 1.388 + 0.015 * np.exp(-rows / 2) + 0.004 * make.rng(3).standard_normal(88)
    assert shape(run=plain_run(train__loss=level)) is None
    assert shape(run=plain_run(train__loss=level - 2e-4 * rows)) == "still-learning"


@pytest.mark.parametrize("aspects", ["at-chance,high", "at-chance,low"])
def test_a_plateau_at_chance_is_never_converged(aspects: str) -> None:
    level = 2.3026 + np.exp(-np.arange(400) / 30)
    assert shape(fired(f"loss-plateaus:{aspects}"), run=plain_run(train__loss=level)) != "converged"
    assert shape(fired("loss-at-chance", severity="high"), run=plain_run(train__loss=level)) != "converged"


def test_noise_without_progress_is_neither() -> None:
    noise = 1.0 + 0.1 * make.rng(2).standard_normal(400)
    assert shape(run=plain_run(train__loss=noise)) is None


@pytest.mark.parametrize(
    ("axis", "points", "short"),
    [("step", 9, True), ("step", 30, False), ("epoch", 3, True), ("epoch", 6, False)],
)
def test_too_short_depends_on_how_much_a_point_covers(axis: str, points: int, short: bool) -> None:
    run = msgspec.structs.replace(plain_run(train__loss=np.linspace(3, 1, points)), axis=axis)
    assert (shape(run=run) == "too-short-to-tell") == short


def test_hundredths_of_an_epoch_are_no_epochs() -> None:
    run = make.run({"train/loss": (np.arange(6) / 100, np.linspace(3, 1, 6))})
    assert shape(run=msgspec.structs.replace(run, axis="epoch")) == "too-short-to-tell"


def test_the_first_percent_of_a_plan_is_too_short() -> None:
    signals = {"train/loss": np.linspace(3, 2, 40)}
    assert shape(run=make.run(signals, setup=Setup(planned_steps=100_000))) == "too-short-to-tell"
    assert shape(run=make.run(signals, setup=Setup(planned_steps=100))) != "too-short-to-tell"


def test_a_rising_rate_is_a_warm_up_and_a_jump_is_not() -> None:
    loss = np.linspace(3, 2, 60)
    ramp = make.run({"train/loss": loss, "lr": np.linspace(0, 0.1, 60)})
    jump = make.run({"train/loss": loss, "lr": np.repeat([0.01, 0.1], 30)})
    assert shape(run=ramp) == "warmup-phase"
    assert shape(run=jump) == "still-learning"


def test_opponents() -> None:
    n = 200
    noise = make.rng(4).standard_normal((2, n)) * 0.1
    run = make.run({"train/g_loss": 0.7 + noise[0], "train/d_loss": 1.4 + noise[1]})
    assert shape(run=run) == "adversarial-balance"
    only = make.run({"train/g_loss": 0.7 + noise[0]})
    assert shape(run=only) != "adversarial-balance"


def test_a_restart_that_raised_the_rate() -> None:
    loss = make.healthy_loss(200)
    up = fired("learning-rate-jumps:up", severity="low")
    assert shape(up, run=plain_run(train__loss=loss)) == "restart-bump"
    assert (
        shape(up, fired("loss-diverges", severity="critical"), run=plain_run(train__loss=loss))
        != "restart-bump"
    )


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("s-curve", "s-curve"),
        ("plain", "still-learning"),
        ("cosine", "converged"),
        ("dropout gap", "regularization-gap"),
        ("fine-tune", None),  # its second half gains a quarter of the noise
    ],
)
def test_through_all_rules(name: str, expected: str | None) -> None:
    leading = pipeline.diagnose(lookalikes.all_runs()[name]).first.hypotheses[0]
    assert (leading.cause, leading.pattern) == ("healthy", expected)
