"""Published probabilities: no more certain than unseen programs allow, and how much they depend on single programs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from benchmarks.gym.fitting.weigh import packed_differences
from tests.captured import HEALTHY, captured
from traindx import pipeline
from traindx.causes.ranking import rank
from traindx.causes.ranking.probabilities import (
    CEILING,
    SECOND,
    cap_probabilities,
    explain_away,
    explained_groups,
    softmax,
    spread,
)
from traindx.causes.ranking.signs import Sign

scores = st.lists(st.floats(-40, 40), min_size=3, max_size=8)


@settings(max_examples=100, deadline=None)
@given(scores)
def test_no_cause_is_published_above_the_ceiling(found: list[float]) -> None:
    free = softmax(np.array(found))
    limited = cap_probabilities(free)
    assert limited.sum() == pytest.approx(1.0)
    assert limited.max() <= CEILING + 1e-12
    assert np.all(np.diff(limited[np.argsort(free, kind="stable")]) >= -1e-12)
    if free.max() <= CEILING:
        assert limited == pytest.approx(free)


def test_what_the_ceiling_takes_goes_to_the_others_by_their_share() -> None:
    assert cap_probabilities(np.array([0.998, 0.0015, 0.0005])) == pytest.approx([0.99, 0.0075, 0.0025])


def test_what_the_first_fault_explains_says_nothing_about_the_second() -> None:
    """The rival depends on the divergence that the first explains; the second has a separate, weaker sign."""
    signs = {"diverges": Sign("diverges", True, "blow-up"), "few": Sign("few", True, "size")}
    terms = [{"diverges": 6.0}, {"diverges": 3.0}, {"few": 2.0}, {}]
    bases, healthy = [-3.0, -3.0, -3.0, -1.0], 3
    alone = softmax(np.array([3.0, 0.0, -1.0, -1.0]))
    explained = explained_groups(terms[0], signs, 0.5)
    assert explained == {"blow-up"}
    explained_away = explain_away(alone, bases, terms, signs, explained, healthy)
    extra = [
        SECOND * alone[0] / (1 + np.exp(2.0 * sign)) for sign in (1, -1)
    ]  # -3 and -1 are left of their scores
    mixed = np.array([alone[1] + extra[0], alone[2] + extra[1]])
    assert explained_away[[1, 2]] == pytest.approx(mixed * (alone[1] + alone[2]) / mixed.sum())
    assert explained_away[[0, healthy]] == pytest.approx(alone[[0, healthy]])
    assert explained_away[2] / explained_away[1] > alone[2] / alone[1]
    assert explain_away(alone[::-1], bases, terms, signs, explained, 3).tolist() == alone[::-1].tolist()


def test_the_spread_is_of_all_that_was_said() -> None:
    assert spread(0.8, [0.7, 0.9, 0.85]) == (0.7, 0.9)
    assert spread(0.95, [0.9, 0.99999]) == (0.9, CEILING)
    assert spread(0.95, []) is None


def test_differences_are_kept_to_half_a_step() -> None:
    made = np.random.default_rng(0).normal(scale=0.4, size=(5, 7, 3))
    members = rank.Members(
        tuple("abcdefg"), tuple("xyz"), (0.0,) * 5, (0.0,) * 5, (), packed_differences(made)
    )
    assert np.abs(members.differences() - made).max() <= rank.STEP / 2 + 1e-12


def test_what_a_member_adds_is_what_a_loop_over_its_weights_adds() -> None:
    members, weights = rank.shipped_refits()
    values = {members.keys[3]: 0.8, members.keys[10]: 1.0, "no such sign": 1.0}
    causes = [members.causes[2], "no such cause", members.causes[0]]
    hand, rest = [1.5, 2.0, -3.0], [-0.5, 0.0, -4.0]
    for m, found in enumerate(rank.refit_scores(values, hand, rest, causes)):
        for i, cause in enumerate(causes):
            expected = members.scale[m] * hand[i] + members.surprise[m] * rest[i]
            if cause in members.causes:
                c = members.causes.index(cause)
                expected += members.base[m][c]
                expected += sum(
                    v * weights[m, members.keys.index(k), c] for k, v in values.items() if k in members.keys
                )
            assert found[i] == pytest.approx(expected)


@pytest.mark.parametrize("name", ["never_cleared", HEALTHY[0]])
def test_the_leading_cause_of_a_recording_has_an_interval(name: str) -> None:
    first, *others = pipeline.diagnose(captured(name)).first.hypotheses
    assert first.interval is not None
    assert first.interval[0] <= round(first.probability, 3) <= first.interval[1] <= CEILING
    assert all(h.interval is None for h in others)
