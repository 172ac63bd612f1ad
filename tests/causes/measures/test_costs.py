from __future__ import annotations

import msgspec
import numpy as np
import pytest

from tests import make
from traindx.capture.interventions import parse
from traindx.causes import catalogue
from traindx.causes.experiments import TRIED, command
from traindx.causes.measures.costs import (
    ANSWER,
    CHECK_MOST,
    EDIT,
    START,
    TYPICAL_RUN,
    Clock,
    clock_of,
    cost_of,
)
from traindx.causes.measures.next_measures import HOW_TO_LOG
from traindx.features.shared import Features
from traindx.vocabulary.run import Run, series


def clock(run: Run) -> Clock:
    return clock_of(run, Features(run))


def timed(times: np.ndarray) -> Run:
    n = len(times)
    run = make.run({"train/loss": make.healthy_loss(n)})
    return msgspec.structs.replace(
        run, series={"train/loss": series(np.arange(n), make.healthy_loss(n), times)}
    )


def test_a_run_takes_as_long_as_its_rows_say() -> None:
    """A hundred rows, 6 s apart: ten minutes, 0.1 each."""
    found = clock(timed(1.7e9 + 6.0 * np.arange(100)))
    assert found.timed
    assert found.minutes == pytest.approx(10.0)
    assert found.steps == pytest.approx(100)
    assert found.step == pytest.approx(0.1)


def test_a_night_between_two_rows_is_a_pause() -> None:
    times = 6.0 * np.arange(100)
    times[50:] += 12 * 3600
    assert clock(timed(times)).minutes == pytest.approx((98 * 6 + 20 * 6) / 60 * 100 / 99)


def test_the_time_of_a_step_times_the_steps() -> None:
    """Logged every 10 steps up to step 1200, half a second each."""
    steps = 10.0 * np.arange(1, 121)
    run = make.run({"train/loss": make.healthy_loss(120), "time/step": np.full(120, 0.5)}, steps=steps)
    assert clock(run).minutes == pytest.approx(10.0)
    assert clock(run).step == pytest.approx(0.5 / 60)


def test_the_time_of_an_epoch_times_the_epochs() -> None:
    run = make.run({"train/loss": make.healthy_loss(30), "time/step": np.full(30, 40.0)})
    found = clock(msgspec.structs.replace(run, axis="epoch"))
    assert found.minutes == pytest.approx(20.0)
    assert found.steps is None
    assert found.reach(10.0) is None


def test_without_a_clock_a_typical_run() -> None:
    clocked = make.run(
        {"train/loss": make.healthy_loss(100), "time/step": ([99.0], [7763.0])}
    )  # since the start
    plain = make.run({"train/loss": make.healthy_loss(100)})
    for run in (plain, clocked, timed(np.zeros(100)), timed(np.full(100, np.nan))):
        found = clock(run)
        assert (found.minutes, found.timed, found.step) == (TYPICAL_RUN, False, None)


def test_an_experiment_goes_a_fifth_beyond_the_finding() -> None:
    """Of 5,000 steps in 100 minutes: a finding from step 1,000 on needs 1,200 of them, or 24 minutes."""
    found = Clock(100.0, True, 5000.0)
    assert found.reach(1000.0) == 1200
    assert cost_of(command(("clip=1.0",), 1200), found) == pytest.approx(START + 24)
    assert found.reach(0.0) == 300
    assert found.reach(4500.0) is None
    assert found.reach(None) is None
    assert cost_of(command(("clip=1.0",)), found) == pytest.approx(START + 100)
    assert Clock(100.0, True, 5000.0, first=7000.0).reach(8000.0) == 1200


def test_what_each_way_costs() -> None:
    found = Clock(100.0, True, 5000.0)  # 0.02 minutes a step
    assert cost_of("--fact lr=0.1", found) == ANSWER
    assert cost_of("--fact lr=0.1 --fact optimizer=sgd", found) == 2 * ANSWER
    assert cost_of("log the loss with its step", found) == pytest.approx(START + 100 + EDIT)
    assert cost_of("traindx run -- python train.py", found) == pytest.approx(START + 100)
    assert cost_of("traindx find-lr -- python train.py", found) == pytest.approx(2 * START + 400 * 0.02)
    assert cost_of("traindx check -- python train.py", found) == CHECK_MOST
    assert cost_of("traindx check -- python train.py", Clock(0.1, True, 1000.0)) == pytest.approx(
        5 * START + 0.13
    )


def test_whatever_is_proposed_costs_something() -> None:
    hows = [how for c in catalogue() for _, how in c.settles] + [how for _, how in HOW_TO_LOG.values()]
    for how in hows:
        for found in (Clock(60.0, False, None), Clock(0.01, True, 10.0)):
            assert 0 < cost_of(how, found) < 100


@pytest.mark.parametrize("cause", TRIED)
def test_every_experiment_is_one_that_the_launcher_knows(cause: str) -> None:
    assert cause in {c.slug for c in catalogue()}
    measure, interventions = TRIED[cause]
    assert measure
    assert len(parse(interventions)) == len(interventions)


def test_two_signals_of_one_row_each_have_a_cost() -> None:
    """A pasted line of training and one of validation: no step can be timed from them."""
    pasted = make.run({"train/loss": ([100.0], [2.3]), "val/loss": ([200.0], [2.2])})
    assert clock(pasted) == Clock(TYPICAL_RUN, False, None, 0.0)
