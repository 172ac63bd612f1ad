from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import make
from tests.causes.made import SEEN, absent, all_but, clear, faults, fired, order, plain_run, ranked
from traindx.causes import catalogue, rank
from traindx.causes.ranking.fitted import Fitted
from traindx.causes.ranking.rank import (
    CERTAIN,
    EXPLAINS,
    SECOND_FAULT,
    UNEXPLAINED,
    discounted,
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
    assert discounted({"loss-not-finite": 2.0, "loss-diverges": -1.0}, signs) == {
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


def test_nothing_found_is_healthy() -> None:
    result = ranked(*clear(*SEEN))
    assert result[0].cause == "healthy"
    assert result[0].probability > 0.75


def test_nothing_looked_at_is_open() -> None:
    result = ranked()
    assert result[0].cause == "healthy"
    assert result[0].probability < 0.6


@pytest.mark.parametrize("shape", ["loss-plateaus:high", "loss-flat-from-start", "loss-falls-slowly"])
def test_no_progress_with_a_healthy_norm_is_a_low_rate(shape: str) -> None:
    mark = f"{shape},norm-healthy" if ":" in shape else f"{shape}:norm-healthy"
    assert faults(fired(mark, severity="low"))[0] == "learning-rate-too-low"


@pytest.mark.parametrize("shape", ["loss-plateaus:high,norm-tiny", "loss-flat-from-start:norm-tiny"])
def test_no_progress_with_a_tiny_norm_is_vanishing(shape: str) -> None:
    vanishing = {"saturating-activations", "deep-without-skip-or-norm", "bad-initialization", "dead-relus"}
    found = faults(fired(shape), fired("gradient-norm-vanishes", severity="high"))
    assert set(found[:3]) <= vanishing
    assert found.index("learning-rate-too-low") > 3 if "learning-rate-too-low" in found else True


def test_nan_in_the_first_steps() -> None:
    found = faults(fired("loss-not-finite:early", severity="critical"), setup={"warmup_steps": 0})
    assert found[0] == "learning-rate-too-high"
    assert {"bad-initialization", "missing-warmup"} <= set(found[:5])


def test_nan_after_the_norm_exploded_is_the_rate_or_the_recurrence() -> None:
    nan = fired("loss-not-finite:late,norm-grew-before", severity="critical")
    assert faults(nan, fired("gradient-norm-explodes", severity="high"))[0] == "learning-rate-too-high"
    recurrent = faults(nan, fired("gradient-norm-spikes"), setup={"model": "LSTM", "clip_norm": 0})
    assert recurrent[:2] in (
        ["exploding-recurrence", "learning-rate-too-high"],
        ["learning-rate-too-high", "exploding-recurrence"],
    )


def test_nan_out_of_the_blue_is_arithmetic_or_data() -> None:
    nan = fired("loss-not-finite:late,norm-normal-before", severity="critical")
    found = faults(nan)
    assert found[0] == "unstable-numerics"
    assert "corrupt-samples" in found[:3]
    assert faults(nan, setup={"precision": "fp16"})[0] == "half-precision-range"
    assert faults(nan, setup={"precision": "bf16"})[0] == "unstable-numerics"


def test_overfitting_asks_for_the_size_of_the_data() -> None:
    gap = fired("validation-gap-grows:strong", severity="high")
    assert faults(gap)[:2] == ["insufficient-regularization", "too-little-data"]
    small = faults(gap, setup={"parameters": 1e7, "dataset_size": 500})
    large = ranked(*all_but(gap), setup={"parameters": 1e6, "dataset_size": 1e6})
    assert small[0] == "too-little-data"
    assert large[0].cause == "insufficient-regularization"
    assert probability_of(large, "too-little-data") < 0.1


def test_validation_bad_from_the_first_evaluation() -> None:
    train = make.healthy_loss(100)
    run = plain_run(train__loss=train, val__loss=np.full(100, 2.6) + 0.02 * make.rng(1).standard_normal(100))
    found = faults(run=run)
    assert found[0] == "val-preprocessing-mismatch"
    assert {"stale-normalization-statistics", "misaligned-labels"} <= set(found[:4])
    assert order(run=run)[0] != "healthy"


@pytest.mark.parametrize(
    ("outcome", "cause_slug"),
    [
        (fired("loss-repeats-each-epoch:falling-within"), "unshuffled-data"),
        (fired("step-waits-for-data", severity="high"), "data-loader-bottleneck"),
        (fired("memory-grows:host"), "memory-leak"),
        (fired("step-time-creeps:compute"), "step-time-creep"),
        (fired("step-time-jumps", severity="high"), "device-fallback"),
        (fired("out-of-memory:ended", severity="critical"), "out-of-memory"),
        (fired("learning-rate-is-zero:always", severity="critical"), "learning-rate-schedule-fault"),
        (fired("learning-rate-vanishes-early"), "learning-rate-schedule-fault"),
        (fired("loss-jumps-on-resume:up"), "resume-without-state"),
        (fired("loss-diverges:early,sudden", severity="critical"), "learning-rate-too-high"),
        (fired("loss-oscillates:alternating,no-progress"), "learning-rate-too-high"),
        (fired("loss-scale-collapses:training-lost", severity="high"), "half-precision-range"),
        (fired("clipping-always-active:tight"), "clip-too-tight"),
        (fired("loss-spikes-recur:periodic"), "corrupt-samples"),
        (fired("quantization-gap-widens"), "quantization-gap"),
        (fired("probabilities-fed-to-cross-entropy"), "double-softmax"),
        (fired("train-and-validation-overlap", severity="high"), "train-val-leakage"),
        (fired("gradients-accumulate-across-steps", severity="high"), "missing-zero-grad"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_one_clear_sign_leads_to_its_cause(outcome: Outcome, cause_slug: str) -> None:
    assert order(outcome)[0] == cause_slug


def test_a_loss_that_stays_high_alone_settles_nothing() -> None:
    """Tasks that are noisy stay high, too."""
    found = ranked(*all_but(fired("losses-stay-high")))
    assert faults(fired("losses-stay-high"))[0] == "insufficient-capacity"
    assert probability_of(found, "healthy") < 0.5


def test_a_zero_rate_explains_a_flat_loss() -> None:
    flat = fired("loss-flat-from-start:lr-zero,above-chance", severity="high")
    zero = fired("learning-rate-is-zero:always", severity="critical")
    result = ranked(*all_but(flat, zero))
    assert result[0].cause == "learning-rate-schedule-fault"
    assert result[0].probability > 0.9


def test_stuck_at_chance_is_spread_out_honestly() -> None:
    flat = fired("loss-flat-from-start:at-chance", severity="high")
    result = ranked(
        *all_but(flat, fired("loss-at-chance:known-classes", severity="high")), setup={"classes": 10}
    )
    assert result[0].cause != "healthy"
    assert result[0].probability < 0.4
    assert len(list(itertools.takewhile(lambda h: h.probability > 0.02, result))) >= 8


@pytest.mark.parametrize(
    ("facts", "leader"),
    [
        ({"momentum": 0.999}, "momentum-too-high"),
        ({"batch_size": 2}, "batch-too-small"),
        ({"lr": 10.0, "optimizer": "sgd"}, "learning-rate-too-high"),
    ],
)
def test_oscillation_by_what_is_set(facts: dict[str, object], leader: str) -> None:
    kind = "periodic" if "momentum" in facts else "no-progress"
    found = faults(fired(f"loss-oscillates:{kind}"), setup=facts)
    assert found[0] == leader
    assert "learning-rate-too-high" in found[:3]


def test_a_floor_at_the_value_of_two_softmaxes() -> None:
    floor = math.log1p(9 / math.e)
    assert floor == pytest.approx(1.4612, abs=1e-4)  # ten classes
    run = plain_run({"classes": 10}, train__loss=floor + make.healthy_loss(200, start=0.85, floor=0.002))
    assert faults(fired("loss-plateaus:low,metric-good", severity="low"), run=run)[0] == "double-softmax"


@pytest.mark.parametrize(
    ("outcome", "shape"),
    [
        (fired("loss-spikes-and-recovers:single", severity="low"), "recovered-spike"),
        (fired("loss-drops-late", severity="info"), "s-curve"),
        (fired("validation-beats-training", severity="info"), "regularization-gap"),
        (fired("validation-rises-then-falls", severity="info"), "epoch-wise-double-descent"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_benign_shapes_stay_healthy(outcome: Outcome, shape: str) -> None:
    result = ranked(*all_but(outcome))
    assert (result[0].cause, result[0].pattern) == ("healthy", shape)


def test_a_single_spike_has_a_bad_sample_second() -> None:
    assert order(fired("loss-spikes-and-recovers:single", severity="low"))[:2] == [
        "healthy",
        "corrupt-samples",
    ]


def test_grokking_is_no_overfitting() -> None:
    late, gap = (
        fired("validation-drops-late", severity="info"),
        fired("validation-gap-grows:strong", severity="high"),
    )
    result = ranked(*all_but(late, gap))
    assert (result[0].cause, result[0].pattern) == ("healthy", "delayed-generalization")


def test_too_short_stays_open() -> None:
    run = plain_run(train__loss=[2.3, 2.1, 1.9])
    result = ranked(run=run)
    assert (result[0].cause, result[0].pattern) == ("healthy", "too-short-to-tell")
    assert result[0].probability < 0.6


def test_a_reported_symptom_counts_where_no_rule_could_look() -> None:
    def leak(*outcomes: Outcome, **setup: str) -> float:
        return probability_of(ranked(*outcomes, setup=setup), "insufficient-regularization")

    silent, reported = leak(), leak(symptoms="validation-gap-grows")
    assert reported > 2 * silent
    looked = clear("validation-gap-grows")
    assert leak(*looked, symptoms="validation-gap-grows") == leak(*looked)
