"""What earlier outcomes count."""

from __future__ import annotations

import pytest

from traindx.lab.knowledge.counts import CAP, HALF_LIFE, Outcome, counts, factor

NOW = 1.8e9


def outcome(
    verdict: str, age: float = 0.0, fix: str = "clip-gradients", cause: str = "exploding-recurrence"
) -> Outcome:
    return Outcome(
        at=NOW - age, project="p", fix=fix, cause=cause, interventions=("clip=1.0",), verdict=verdict
    )  # fmt: skip


def counted(*outcomes: Outcome) -> tuple[float, float]:
    return counts(outcomes, "clip-gradients", "exploding-recurrence", NOW)


def test_only_outcomes_of_this_fix_for_this_cause_count_and_only_verdicts() -> None:
    assert counted() == (0.0, 0.0)
    others = (outcome("confirmed", fix="x"), outcome("confirmed", cause="y"), outcome("inconclusive"))
    assert counted(*others, outcome("confirmed"), outcome("refuted"), outcome("harmful")) == (1.0, 2.0)


def test_they_fade_and_are_capped() -> None:
    assert counted(outcome("confirmed", age=HALF_LIFE)) == (0.5, 0.0)
    many = counted(*[outcome("confirmed")] * 30, *[outcome("refuted")] * 10)
    assert sum(many) == pytest.approx(CAP)
    assert many[0] == pytest.approx(3 * many[1])


def test_the_weight_of_trials_is_a_beta_mean_compared_with_no_knowledge() -> None:
    assert factor(0, 0) == 1.0
    assert factor(CAP, 0) == pytest.approx(0.9 / 0.5)
    assert factor(0, CAP) == pytest.approx(0.1 / 0.5)
    any_fix = (outcome("confirmed", fix="a"), outcome("confirmed", fix="b"), outcome("refuted", cause="y"))
    assert counts(any_fix, None, "exploding-recurrence", NOW) == (2.0, 0.0)
