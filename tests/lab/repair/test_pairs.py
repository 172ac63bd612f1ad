"""Two arms of a seed against each other."""

from __future__ import annotations

import math

import pytest

from tests.lab.repair.descent import Descent
from traindx.lab.judge.objectives import choose
from traindx.lab.judge.significance import CAP, judge
from traindx.lab.repair.bench import Arm, as_many_samples
from traindx.lab.repair.pairs import known_gains, noise_of, pair_arms, trial
from traindx.vocabulary.run import Run


def run(rate: float, seed: int = 1, steps: int = 200) -> Run:
    return Descent(rate).run(rate, seed, steps, ())


def arm(recorded: Run | None, *, ok: bool = True, why: str = "") -> Arm:
    return Arm((), 1, recorded, ok, 1.0, why)


GOOD, SLOW = run(0.05), run(0.0005)
OBJECTIVE = choose(GOOD, ["lr=*10"])


def test_the_better_arm_gains_what_the_worse_one_loses() -> None:
    gain = pair_arms(arm(SLOW), arm(GOOD), OBJECTIVE).gain
    assert gain > math.log(2)
    assert pair_arms(arm(GOOD), arm(SLOW), OBJECTIVE).gain == pytest.approx(-gain)


def test_one_that_fails_has_lost_and_no_record_is_a_failure() -> None:
    assert pair_arms(arm(GOOD), arm(GOOD, ok=False, why="out of memory"), OBJECTIVE).gain == -CAP
    assert pair_arms(arm(SLOW, ok=False), arm(GOOD), OBJECTIVE).gain == CAP
    assert pair_arms(arm(GOOD), arm(None, ok=False), OBJECTIVE).gain == -CAP
    assert pair_arms(arm(None, ok=False), arm(None, ok=False), OBJECTIVE).gain == 0


def test_arms_are_compared_at_the_step_that_both_reached() -> None:
    short = run(0.0005, steps=100)
    both = pair_arms(arm(short), arm(run(0.0005, steps=200)), OBJECTIVE)
    assert both.levels[0] == both.levels[1]
    assert both.gain == 0


def test_batches_of_another_size_are_compared_at_the_same_samples() -> None:
    """A quarter of the batch takes four times the steps. Other changes that go on for longer gain nothing by it."""
    short, long = arm(run(0.002, steps=50)), arm(run(0.002, steps=200))
    assert pair_arms(short, long._replace(interventions=("batch=*0.25",)), OBJECTIVE).gain > 0.3
    assert pair_arms(short, long._replace(interventions=("lr=*2",)), OBJECTIVE).gain == 0
    both = long._replace(interventions=("batch=*0.25",))
    assert pair_arms(short._replace(interventions=("batch=*0.25",)), both, OBJECTIVE).gain == 0


@pytest.mark.parametrize("spec", ["source=batch=*0.25", "source=steps=*2"])
def test_a_longer_training_in_the_source_is_compared_at_the_end_of_each(spec: str) -> None:
    short, long = arm(run(0.002, steps=50)), arm(run(0.002, steps=200))
    assert pair_arms(short, long._replace(interventions=(spec,)), OBJECTIVE).gain > 0.3
    assert pair_arms(short, long._replace(interventions=("source=lr=*2",)), OBJECTIVE).gain == 0


def test_a_part_of_a_run_has_the_steps_of_its_samples_and_epochs() -> None:
    assert as_many_samples(300, ("batch=*0.25",)) == 1200
    assert as_many_samples(300, ("source=batch=*0.25",)) == 1200
    assert as_many_samples(300, ("source=steps=*2", "lr=*10")) == 600
    assert as_many_samples(300, ("lr=*10", "source=lr=*10")) == 300
    assert as_many_samples(None, ("source=steps=*2",)) is None


def test_the_noise_is_that_between_seeds_and_a_trial_reports_both_sides() -> None:
    arms = [arm(run(0.0005, seed)) for seed in (1, 2, 3)]
    noise = noise_of(arms, OBJECTIVE)
    assert noise is not None
    assert noise > 0
    pairs = [pair_arms(a, arm(run(0.05, seed)), OBJECTIVE) for a, seed in zip(arms, (1, 2, 3), strict=True)]
    made = trial(
        pairs, judge(known_gains(pairs)), interventions=("lr=*100",), on_top_of=(), cause="x", fix="y"
    )
    assert made.before is not None
    assert made.after is not None
    assert made.before.n == made.after.n == 3
    assert made.after.mean < made.before.mean
