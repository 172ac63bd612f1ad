"""What an experiment's outcome does to the belief."""

from __future__ import annotations

import pytest

from traindx.causes.catalogue import catalogue
from traindx.causes.experiments import HELPED, TRIED
from traindx.causes.experiments.belief import CHANCES, Outcome, outcome_of, update_belief
from traindx.vocabulary.diagnosis import Hypothesis


def believed(**shares: float) -> list[Hypothesis]:
    return [Hypothesis(cause=c.replace("_", "-"), title=c, probability=p) for c, p in shares.items()]


def test_it_is_bayes_rule() -> None:
    found = update_belief(believed(dead_relus=0.5, clip_too_tight=0.5), ("dead-relus",), "confirmed", "x")
    yes, no = CHANCES["confirmed"]
    assert found[0].cause == "dead-relus"
    assert found[0].probability == pytest.approx(yes / (yes + no))
    assert sum(h.probability for h in found) == pytest.approx(1)
    assert [t.finding for t in found[0].for_] == ["trial:x"]


def test_a_refuted_cause_gives_way_and_what_was_confirmed_counts_against_health() -> None:
    belief = believed(dead_relus=0.6, healthy=0.4)
    assert update_belief(belief, ("dead-relus",), "refuted", "x")[0].cause == "healthy"
    after = {h.cause: h.probability for h in update_belief(belief, ("dead-relus",), "confirmed", "x")}
    assert after["dead-relus"] > 0.95


def test_an_experiment_about_no_cause_here_changes_only_health() -> None:
    found = {
        h.cause: h.probability
        for h in update_belief(believed(dead_relus=0.5, clip_too_tight=0.5), (), "refuted", "x")
    }
    assert found == {"dead-relus": 0.5, "clip-too-tight": 0.5}


def test_what_is_helped_without_being_cured_moves_half_as_far() -> None:
    """Noisy labels are better under regularization, too: that it helps does not make them give way to its lack."""
    belief = believed(label_noise=0.4, insufficient_regularization=0.3, dead_relus=0.3)
    found = update_belief(belief, ("insufficient-regularization",), "confirmed", "x", ("label-noise",))
    probabilities = {h.cause: h.probability for h in found}
    yes, no = CHANCES["confirmed"]
    assert probabilities["label-noise"] / probabilities["dead-relus"] == pytest.approx(
        0.4 / 0.3 * (yes / no) ** 0.5
    )
    assert probabilities["insufficient-regularization"] / probabilities["dead-relus"] == pytest.approx(
        yes / no
    )
    for way, causes in HELPED.items():
        assert causes
        assert not {c for c, (_, tried) in TRIED.items() if tried == way} & set(causes)
        assert set(causes) <= {c.slug for c in catalogue()}
        assert way in {tried for _, tried in TRIED.values()}


def shares_after(outcome: Outcome, cured: str, **shares: float) -> dict[str, float]:
    found = update_belief(believed(**shares), (cured,), outcome, "x", keep_health=True)
    return {h.cause: h.probability for h in found}


def test_a_repair_that_helps_puts_an_unlikely_cause_first_and_a_better_setting_does_not() -> None:
    belief = {"dead_relus": 0.6, "missing_zero_grad": 0.05, "healthy": 0.35}
    repaired = shares_after(outcome_of("confirmed", ("zero_grad=each-step",)), "missing-zero-grad", **belief)
    assert max(repaired, key=repaired.__getitem__) == "missing-zero-grad"
    belief = {"dead_relus": 0.6, "learning_rate_too_low": 0.05, "healthy": 0.35}
    better = shares_after(outcome_of("confirmed", ("lr=*10",)), "learning-rate-too-low", **belief)
    assert max(better, key=better.__getitem__) == "dead-relus"
    assert better["learning-rate-too-low"] > 0.05


def test_a_change_that_found_nothing_to_do_almost_excludes_its_cause() -> None:
    belief = {"missing_zero_grad": 0.6, "dead_relus": 0.4}
    outcome = outcome_of("refuted", ("zero_grad=each-step",), idle=True)
    assert shares_after(outcome, "missing-zero-grad", **belief)["missing-zero-grad"] < 0.05
    outcome = outcome_of("refuted", ("zero_grad=each-step",))
    assert shares_after(outcome, "missing-zero-grad", **belief)["missing-zero-grad"] > 0.2


@pytest.mark.parametrize("outcome", ["refuted", "harmful", "inconclusive", "idle"])
def test_what_does_not_help_is_no_evidence_of_health(outcome: Outcome) -> None:
    found = shares_after(outcome, "dead-relus", dead_relus=0.3, clip_too_tight=0.2, healthy=0.5)
    assert found["healthy"] == pytest.approx(0.5)
    assert sum(found.values()) == pytest.approx(1)
