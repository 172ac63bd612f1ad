"""A change that ends where the script ends, and is there sooner: seen where it is real, and seldom by chance."""

from __future__ import annotations

import numpy as np
import pytest

from traindx.config import Config
from traindx.lab.judge.objectives import choose
from traindx.lab.judge.significance import MIN_EFFECT
from traindx.lab.plan import Candidate
from traindx.lab.repair import variants
from traindx.lab.repair.bench import Arm
from traindx.lab.repair.pairs import Pair, judge_pairs, pair_arms
from traindx.lab.repair.variants import Way, by_speed, judge_by_steps
from traindx.vocabulary.run import Run, series

CHANGE = Candidate("raise-learning-rate", "learning-rate-too-low", ("lr=*10",), 1.0)


def arm(tau: float, chance: np.random.Generator) -> Arm:
    """A run whose validation errors die out with about `tau` steps, to 5 %, by numbers that scatter as those of 500
    samples do; no two seeds take the same time."""
    steps = np.arange(0, 420, 20.0)
    errors = 0.05 + 0.5 * np.exp(-steps / (tau * chance.lognormal(0, 0.15)))
    accuracy = series(steps, 1 - chance.binomial(500, errors) / 500)
    return Arm((), 1, Run(id="r", source="", format="traindx", series={"val/accuracy": accuracy}), True, 1.0)


def verdict(before: float, after: float, chance: np.random.Generator) -> tuple[str, str]:
    """What a change comes to, over three seeds, and by what scale it was judged."""
    arms = [(arm(before, chance), arm(after, chance)) for _ in range(3)]
    first = arms[0][0].run
    assert first is not None
    objective = choose(first, [])
    way = by_speed(
        Way(CHANGE, CHANGE.interventions, objective, pair_arms(*arms[0], objective)), True, MIN_EFFECT
    )
    pairs = [pair_arms(*both, way.objective) for both in arms]
    found = judge_pairs(pairs, way.objective, MIN_EFFECT, way.doses)
    way, _, found = judge_by_steps(way, pairs, found, MIN_EFFECT, way.doses)
    return found.verdict, way.objective.scale


def test_four_times_as_fast_is_confirmed() -> None:
    chance = np.random.default_rng(3)
    found = [verdict(100.0, 25.0, chance) for _ in range(40)]
    assert found.count(("confirmed", "steps")) >= 20  # of three seeds whose ends scatter by an eighth


def test_of_changes_that_do_nothing_hardly_one_is_confirmed() -> None:
    chance = np.random.default_rng(4)
    found = [verdict(60.0, 60.0, chance)[0] for _ in range(400)]
    assert found.count("confirmed") <= 0.05 * len(found)


@pytest.mark.parametrize(("gains", "healthy", "last"), [
    ((0.1, 0.9), True, False),  # much better than the dose before it: the next one may be better still
    ((0.8, 0.9), True, True),
    ((0.1, 2.5), True, True),  # nothing is left to gain
    ((0.8, 0.9), False, False),
    ((0.1, 0.5), True, False),
])  # fmt: skip
def test_larger_doses_are_tried_while_they_help(
    monkeypatch: pytest.MonkeyPatch, gains: tuple[float, float], healthy: bool, last: bool
) -> None:
    monkeypatch.setattr(variants, "is_fine", lambda _: healthy)
    one = arm(50.0, np.random.default_rng(6))
    assert one.run is not None
    objective = choose(one.run, [])
    tried = [
        Way(CHANGE, ("lr=*10",), objective, Pair(one, one, (0.0, 0.0), gain)) for gain in sorted(gains)[::-1]
    ]
    assert variants.is_cured(tried, Config()) is last


def test_what_the_user_named_is_what_counts() -> None:
    chance = np.random.default_rng(5)
    first, second = arm(100.0, chance), arm(25.0, chance)
    assert first.run is not None
    objective = choose(first.run, [])
    way = Way(CHANGE, CHANGE.interventions, objective, pair_arms(first, second, objective))
    assert by_speed(way, False, MIN_EFFECT) is way
