from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

import msgspec
import pytest
from hypothesis import given, settings, strategies as st

from tests.causes.made import absent, all_but, clear, fired, plain_run, ranked
from traindx.causes import catalogue, rank
from traindx.causes.ranking.fitted import Fitted
from traindx.causes.ranking.rank import (
    CERTAIN,
    EXPLAINS,
    SECOND_FAULT,
    UNEXPLAINED,
    discount_repeats,
    findings_of,
    hand_terms,
)
from traindx.causes.ranking.signs import SECOND_HAND, Sign, signs_of
from traindx.features.shared import Features
from traindx.vocabulary.cause import Cause, Weight
from traindx.vocabulary.diagnosis import Hypothesis
from traindx.vocabulary.rule import Outcome

WEIGHTED = sorted({key.split(":")[0] for c in catalogue() for key in c.weights} - {"fact"})


def cause(slug: str, prior: float = 0.0, **weights: Weight) -> Cause:
    given = {k.replace("__", ":").replace("_", "-"): w for k, w in weights.items()}
    return Cause(slug=slug, title=slug, family="optimization", prior=prior, page="", weights=given)


def terms_of(cause: Cause, signs: Mapping[str, Sign]) -> dict[str, float]:
    """What each sign adds to the cause's log-odds, by sign key, after the discount; zeros left out."""
    own, rest = hand_terms(cause, signs, findings_of(signs))
    return {key: own.get(key, 0.0) + rest.get(key, 0.0) for key in {**own, **rest}}


def probability_of(hypotheses: Iterable[Hypothesis], slug: str) -> float:
    """Probability of one cause; 0 when it was not listed."""
    return next((h.probability for h in hypotheses if h.cause == slug), 0.0)


def odds(chosen: Cause, *outcomes: Outcome) -> float:
    return sum(terms_of(chosen, signs_of(outcomes, {})).values())


# The arithmetic, against numbers worked out by hand.


def test_scores_add_up_and_become_probabilities() -> None:
    a = cause("a", prior=-1.0, loss_diverges=Weight(2.0, -0.5))
    b = cause("b", prior=0.5, loss_diverges=Weight(-1.0), loss_oscillates=Weight(3.0, -0.25))
    run = plain_run()
    outcomes = (fired("loss-diverges", severity="info", strength=0.5), *clear("loss-oscillates"))
    result = {h.cause: h for h in rank(outcomes, run, Features(run), (a, b), Fitted())}
    score = {"a": -1.0 + 2.0 * 0.5, "b": 0.5 - 1.0 * 0.5 - 0.25}
    total = sum(math.exp(s) for s in score.values())
    for slug, hypothesis in result.items():
        assert hypothesis.probability == pytest.approx(math.exp(score[slug]) / total)
    assert [(t.finding, t.log_odds) for t in result["b"].against] == [
        ("loss-diverges", -0.5),
        ("loss-oscillates", -0.25),
    ]
    assert [(t.finding, t.log_odds) for t in result["a"].for_] == [("loss-diverges", 1.0)]


def test_an_aspect_adds_to_its_rule() -> None:
    a = cause("a", loss_not_finite=Weight(1.0), loss_not_finite__late=Weight(-0.75))
    assert odds(a, fired("loss-not-finite")) == 1.0
    assert odds(a, fired("loss-not-finite:late", severity="info", strength=0.5)) == 0.125


def test_a_finding_that_is_not_explained_counts_against_by_its_severity() -> None:
    a = cause(
        "a", loss_drops_late=Weight(0.5 * EXPLAINS), loss_oscillates=Weight(1.5), loss_plateaus=Weight(-0.25)
    )
    assert odds(a, fired("seed-not-set", severity="high")) == UNEXPLAINED["high"]
    assert odds(a, fired("seed-not-set", severity="info")) == 0.0
    assert odds(a, fired("loss-oscillates", severity="high")) == 1.5
    assert odds(a, fired("loss-plateaus", severity="low", strength=0.5)) == 0.5 * (UNEXPLAINED["low"] - 0.25)
    assert odds(a, fired("loss-drops-late", severity="medium")) == 0.25 + 0.5 * UNEXPLAINED["medium"]


def test_a_cause_that_is_surely_there_leaves_room_for_a_second() -> None:
    a = cause("a", loss_oscillates=Weight(CERTAIN), loss_plateaus=Weight(CERTAIN - 0.1))
    unrelated = fired("seed-not-set", severity="high")
    assert (
        odds(a, fired("loss-oscillates", severity="info"), unrelated)
        == CERTAIN + SECOND_FAULT * UNEXPLAINED["high"]
    )
    assert odds(a, fired("loss-plateaus", severity="info"), unrelated) == CERTAIN - 0.1 + UNEXPLAINED["high"]


def test_what_is_not_explained_is_scaled_by_itself() -> None:
    a = cause("a", loss_oscillates=Weight(1.5, -0.5))
    b = cause("b", prior=-0.25)
    fit = Fitted(scale={"loss": 0.8}, surprise={"loss": 0.5})
    run = plain_run()
    outcomes = (fired("seed-not-set", severity="medium"), *clear("loss-oscillates"))
    run = msgspec.structs.replace(run, series={"train/loss": run.series["train/loss"]})
    ranked_by_cause = {h.cause: h.probability for h in rank(outcomes, run, Features(run), (a, b), fit)}
    rest = 0.5 * UNEXPLAINED["medium"]
    score = {"a": 0.8 * -0.5 + rest, "b": 0.8 * -0.25 + rest}
    assert math.log(ranked_by_cause["a"] / ranked_by_cause["b"]) == pytest.approx(score["a"] - score["b"])
    signs = signs_of(outcomes, {})
    assert hand_terms(a, signs, findings_of(signs))[1]["seed-not-set"] == UNEXPLAINED["medium"]


def test_an_explained_event_is_not_held_against_a_cause_under_another_name() -> None:
    a = cause("a", loss_not_finite=Weight(2.0))
    assert odds(a, fired("loss-not-finite"), fired("loss-diverges", severity="critical")) == 2.0


def test_one_event_is_not_counted_three_times() -> None:
    weights = {s: Weight(2.0) for s in ("loss-not-finite", "loss-diverges", "loss-spikes-then-fails")}
    a = Cause(
        slug="a",
        title="",
        family="data",
        prior=0,
        page="",
        weights={**weights, "loss-oscillates": Weight(1.0)},
    )
    both = odds(a, *map(fired, weights), fired("loss-oscillates"))
    assert both == pytest.approx(2.0 + 2 * SECOND_HAND * 2.0 + 1.0)


def test_a_consequence_joins_the_group_of_what_it_follows() -> None:
    a = cause("a", loss_oscillates=Weight(1.0), learning_rate_jumps=Weight(2.0))
    alone = odds(a, fired("loss-oscillates"), fired("learning-rate-jumps"))
    following = odds(
        a, fired("loss-oscillates", follows=("learning-rate-jumps",)), fired("learning-rate-jumps")
    )
    assert alone == 3.0
    assert following == pytest.approx(2.0 + SECOND_HAND)


def test_opposite_directions_of_a_group_do_not_swallow_each_other() -> None:
    signs = signs_of((fired("loss-not-finite"), fired("loss-diverges")), {})
    assert discount_repeats({"loss-not-finite": 2.0, "loss-diverges": -1.0}, signs) == {
        "loss-not-finite": 2.0,
        "loss-diverges": -1.0,
    }


# Properties over the whole catalogue.

outcome_lists = st.lists(
    st.tuples(
        st.sampled_from(WEIGHTED),
        st.sampled_from(["fired", "clear", "absent"]),
        st.sampled_from(["critical", "high", "medium", "low", "info"]),
        st.floats(0.05, 1.0),
    ),
    unique_by=lambda t: t[0],
    max_size=25,
)


def built(rows: list[tuple[str, str, str, float]]) -> list[Outcome]:
    make_one = {
        "fired": lambda s, v, x: fired(s, severity=v, strength=x),
        "clear": lambda s, v, x: clear(s)[0],
        "absent": lambda s, v, x: absent(s),
    }
    return [make_one[kind](slug, severity, strength) for slug, kind, severity, strength in rows]


@settings(max_examples=60, deadline=None)
@given(outcome_lists, st.randoms())
def test_probabilities_sum_to_one_in_any_order(
    rows: list[tuple[str, str, str, float]], random: object
) -> None:
    outcomes = built(rows)
    result = ranked(*outcomes)
    assert sum(h.probability for h in result) == pytest.approx(1.0, abs=1e-12)
    assert all(0 < h.probability <= 1 for h in result)
    assert [h.probability for h in result] == sorted((h.probability for h in result), reverse=True)
    assert "healthy" in {h.cause for h in result}
    random.shuffle(outcomes)  # type: ignore[attr-defined]
    assert ranked(*outcomes) == result


@settings(max_examples=60, deadline=None)
@given(outcome_lists)
def test_what_was_not_evaluated_adds_nothing(rows: list[tuple[str, str, str, float]]) -> None:
    outcomes = built(rows)
    assert ranked(*outcomes) == ranked(*(o for o in outcomes if o.status != "not-evaluated"))


@settings(max_examples=100, deadline=None)
@given(
    outcome_lists,
    st.sampled_from(WEIGHTED),
    st.sampled_from(["fired", "clear"]),
    st.sampled_from(catalogue()),
)
def test_evidence_moves_a_cause_in_its_own_direction(
    rows: list[tuple[str, str, str, float]], slug: str, kind: str, chosen: Cause
) -> None:
    """Evidence against a cause never raises its log-odds, and the other way round."""
    before = [o for o in built(rows) if o.rule.slug != slug]
    added = fired(slug, severity="info") if kind == "fired" else clear(slug)[0]
    weight = chosen.weights.get(slug)
    move = odds(chosen, *before, added) - odds(chosen, *before)
    direction = 0.0 if weight is None else weight.fired if kind == "fired" else weight.clear
    assert move * direction >= 0
    assert (move != 0) == (direction != 0)


def test_counter_evidence_against_one_cause_lowers_its_probability() -> None:
    before = probability_of(ranked(fired("loss-diverges")), "missing-warmup")
    after = probability_of(
        ranked(fired("loss-diverges"), *clear("learning-rate-never-warms-up")), "missing-warmup"
    )
    assert after < before


def test_ranking_is_quick_enough_to_be_called_for_every_run() -> None:
    """No clock: the work is bounded by the catalogue, and parsing of keys is done once."""
    outcomes = all_but(fired("loss-diverges"))
    assert ranked(*outcomes) == ranked(*outcomes)


# The trees of training practice. `faults` are the causes without `healthy`, likeliest first.
