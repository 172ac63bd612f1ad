from __future__ import annotations

import pytest

from tests.causes.names import CAUSES, PATTERNS
from traindx.causes import catalogue, find, patterns
from traindx.causes.facts import FACTS, QUESTIONS
from traindx.causes.grades.scales import SCALES
from traindx.causes.ranking.signs import GROUPS
from traindx.causes.verdict.patterns import SHAPES
from traindx.rules import catalogue as rules
from traindx.vocabulary.cause import Cause

RULES = {rule.slug for rule in rules()}
FACT_NAMES = set(FACTS)


def test_released_slugs_are_kept() -> None:
    """In their order; new ones need no line here."""
    for family, slugs in CAUSES.items():
        assert tuple(c.slug for c in catalogue() if c.family == family and c.slug in slugs) == slugs
    assert tuple(p.slug for p in patterns()) == PATTERNS


def test_every_pattern_can_be_shown() -> None:
    assert {slug for slug, _ in SHAPES} == set(PATTERNS)


GRADES = {scale.name: scale.names for scale in SCALES}


@pytest.mark.parametrize("cause", catalogue(), ids=lambda c: c.slug)
def test_weights_speak_of_things_that_exist(cause: Cause) -> None:
    assert cause.weights
    for key, weight in cause.weights.items():
        subject, _, rest = key.partition(":")
        if subject == "fact":
            assert rest in FACT_NAMES, key
        elif "=" in key:
            scale, _, word = key.partition("=")
            assert word in GRADES[scale], key
        else:
            assert subject in RULES, key
        assert weight.fired != 0 or weight.clear != 0, f"{key} says nothing"
        assert abs(weight.fired) <= 7
        assert abs(weight.clear) <= 5
        assert weight.basis


@pytest.mark.parametrize("cause", catalogue(), ids=lambda c: c.slug)
def test_pages_contain_what_a_reader_needs(cause: Cause) -> None:
    for part in ("In a log: ", "Mistaken for: ", "Settled by: "):
        assert cause.page.count("\n\n" + part) == 1
    assert cause.page.index("In a log:") > 40
    assert all(measure and how for measure, how in cause.settles)
    assert cause.settles


def test_healthy_is_the_commonest_and_the_reference() -> None:
    healthy = find("healthy")
    assert healthy is not None
    assert healthy.prior == 0
    assert all(c.prior < 0 for c in catalogue() if c.slug != "healthy")
    assert find("no-such-cause") is None


def test_every_fact_weighs_for_some_cause() -> None:
    used = {key[5:] for c in catalogue() for key in c.weights if key.startswith("fact:")}
    assert used == FACT_NAMES
    assert set(QUESTIONS) <= FACT_NAMES


def test_groups_share_no_member() -> None:
    members = [m for group in GROUPS.values() for m in group]
    assert len(members) == len(set(members))
    assert {m for m in members if not m.startswith("fact:")} <= RULES
    assert {m[5:] for m in members if m.startswith("fact:")} <= FACT_NAMES
