from __future__ import annotations

import json
import shlex
from itertools import product

import msgspec
import numpy as np
import pytest
from hypothesis import given, strategies as st

from tests import make
from tests.causes.made import absent, all_but, fired, plain_run, ranked
from traindx import pipeline, rules
from traindx.capture.interventions import parse
from traindx.causes import catalogue, next_measures
from traindx.causes.facts import QUESTIONS
from traindx.causes.measures.next_measures import (
    SHOWN,
    WORTH,
    Question,
    choose_measures,
    entropy,
    gain,
    how_to_log,
    most_informative,
    question,
    signals_missing,
)
from traindx.features.shared import Features
from traindx.vocabulary.diagnosis import NextMeasure
from traindx.vocabulary.rule import Outcome
from traindx.vocabulary.run import Run

beliefs = st.lists(st.floats(0.01, 1.0), min_size=2, max_size=6).map(lambda p: np.array(p) / sum(p))


def measured(*outcomes: Outcome, run: Run | None = None) -> tuple[NextMeasure, ...]:
    run = run or plain_run()
    return next_measures(ranked(*outcomes, run=run), outcomes, run)


@pytest.mark.parametrize("rewarded", [True, False])
def test_the_divergence_from_a_reference_is_asked_for_only_where_there_are_rewards(rewarded: bool) -> None:
    """A classifier has no reference model."""
    more = {"train__reward": np.arange(60.0)} if rewarded else {}
    run = plain_run(train__loss=make.healthy_loss(60), **more)
    outcomes = all_but(fired("gradient-norm-grows"), absent("answers-leave-reference", "train/kl"))
    causes = [c for c in catalogue() if c.slug in ("unbalanced-loss-terms", "missing-warmup")]
    found = signals_missing(outcomes, run, causes, Features(run))
    asked = [how_to_log("train/kl")[0] == c.measure for c in found]
    assert any(asked) == rewarded


def test_entropy_of_equal_chances() -> None:
    for k in (1, 2, 8):
        assert entropy(np.full(k, 1 / k)) == pytest.approx(np.log2(k))


def test_a_question_that_settles_is_worth_the_entropy_and_an_idle_one_nothing() -> None:
    belief = np.array([0.25, 0.75])
    assert gain([Question("x", np.array([1.0, 0.0]))], belief) == pytest.approx(entropy(belief))
    assert gain([Question("x", np.array([0.3, 0.3]))], belief) == pytest.approx(0.0, abs=1e-12)


@given(beliefs, st.data())
def test_gain_is_the_mutual_information(belief: np.ndarray, data: st.DataObject) -> None:
    """Against a direct sum of p log p/q over the joint table."""
    chances = st.lists(st.floats(0.02, 0.98), min_size=len(belief), max_size=len(belief)).map(np.array)
    asked = [Question(str(i), data.draw(chances)) for i in range(2)]
    naive = 0.0
    for answers in product((True, False), repeat=2):
        given_cause = np.ones(len(belief))
        for yes, q in zip(answers, asked, strict=True):
            given_cause = given_cause * (q.likelihood if yes else 1 - q.likelihood)
        marginal = sum(float(b * g) for b, g in zip(belief, given_cause, strict=True))
        naive += sum(float(b * g) * np.log2(g / marginal) for b, g in zip(belief, given_cause, strict=True))
    assert gain(asked, belief) == pytest.approx(naive, abs=1e-9)
    assert gain(asked, belief) >= gain(asked[:1], belief) - 1e-12


def test_a_question_is_likelier_to_be_answered_yes_where_the_weight_is_positive() -> None:
    causes = [
        c
        for c in catalogue()
        if c.slug in ("learning-rate-too-high", "learning-rate-too-low", "memory-leak")
    ]
    asked = question("gradient-norm-explodes", causes, 0.05)
    assert asked is not None
    by_slug = dict(zip((c.slug for c in causes), asked.likelihood, strict=True))
    assert by_slug["learning-rate-too-high"] > by_slug["memory-leak"] == pytest.approx(0.05)
    assert by_slug["learning-rate-too-low"] < by_slug["memory-leak"]
    assert question("no-such-rule", causes, 0.05) is None


def test_members_of_one_group_are_asked_once() -> None:
    one, two = (
        Question("loss-not-finite", np.array([0.9, 0.1])),
        Question("loss-diverges", np.array([0.8, 0.1])),
    )
    assert most_informative([two, one]) == (one,)


def test_flat_without_a_norm_asks_for_the_norm() -> None:
    flat = fired("loss-flat-from-start", severity="high")
    lacking = (absent("gradient-norm-vanishes", "grad_norm"), absent("gradient-norm-explodes", "grad_norm"))
    names = " ".join(m.measure for m in measured(flat, *lacking))
    assert "gradient norm" in names


def test_overfitting_asks_for_the_size_of_the_data() -> None:
    gap = fired("validation-gap-grows:strong", severity="high")
    run = plain_run(train__loss=make.healthy_loss(100), val__loss=make.healthy_loss(100, seed=1))
    found = measured(*all_but(gap), run=run)
    assert any("dataset_size" in m.how for m in found)


def test_nan_under_unknown_precision_asks_for_it_until_it_is_known() -> None:
    nan = fired("loss-not-finite:late,norm-normal-before", severity="critical")
    asked = measured(*all_but(nan))
    assert any("precision" in m.how for m in asked) or any("non-finite" in m.measure for m in asked)
    known = plain_run({"precision": "fp32"})
    assert not any("--fact precision" in m.how for m in measured(*all_but(nan), run=known))


def test_nothing_is_asked_for_twice_or_though_it_is_there() -> None:
    run = make.run(
        {"train/loss": make.healthy_loss(200), "val/loss": make.healthy_loss(200), "lr": np.full(200, 0.1)}
    )
    for slug in (
        "loss-oscillates",
        "loss-flat-from-start",
        "loss-diverges",
        "validation-gap-grows",
        "loss-plateaus",
    ):
        found = measured(*all_but(fired(slug, severity="high")), run=run)
        assert len(found) <= 3
        assert len({m.how for m in found}) == len(found)
        rates = [m.bits_per_minute for m in found]
        assert rates == sorted(rates, reverse=True)
        for measure in found:
            assert measure.gain_bits > 0
            assert "log lr" not in measure.how
            assert "val/loss" not in measure.how


def test_a_settled_case_asks_nothing() -> None:
    zero = fired("learning-rate-is-zero:always", severity="critical")
    flat = fired("loss-flat-from-start:lr-zero", severity="high")
    assert measured(*all_but(zero, flat)) == ()


def test_what_is_asked_can_be_answered() -> None:
    """Every `--fact name=value` that is suggested is one that some fact reads."""
    run = plain_run()
    for _, how in QUESTIONS.values():
        for part in how.split("--fact ")[1:]:
            name = part.split("=")[0]
            known = run.setup.with_facts({name: "1"}, "given")
            assert known.known(name) == "1"


def some(how: str, bits: float, minutes: float) -> NextMeasure:
    return NextMeasure(how, "why", how, bits, minutes)


def test_a_case_by_hand() -> None:
    """A fact that settles one of two equal chances: 1 bit in 1 minute. An experiment that is right nine times in ten:
    1 - H(0.9) = 0.531 bits, in 2.5 minutes 0.212 a minute; a run of an hour that settles everything is last."""
    belief = np.array([0.5, 0.5])
    fact = gain([Question("fact", np.array([1.0, 0.0]))], belief)
    trial = gain([Question("trial", np.array([0.9, 0.1]))], belief)
    assert trial == pytest.approx(1 + 0.9 * np.log2(0.9) + 0.1 * np.log2(0.1))
    found = choose_measures([some("run", fact, 60.0), some("trial", trial, 2.5), some("fact", fact, 1.0)])
    assert [m.how for m in found] == ["fact", "trial", "run"]
    assert [m.bits_per_minute for m in found] == pytest.approx([1.0, 0.2124, 1 / 60], rel=1e-3)


offers = st.lists(st.tuples(st.floats(0.0, 3.0), st.floats(0.05, 600.0)), min_size=1, max_size=8)


@given(offers)
def test_what_is_chosen_is_worth_it_in_order_and_holds_the_best(drawn: list[tuple[float, float]]) -> None:
    found = choose_measures([some(str(i), bits, minutes) for i, (bits, minutes) in enumerate(drawn)])
    worthy = [(bits, minutes) for bits, minutes in drawn if bits >= WORTH]
    assert len(found) == min(len(worthy), SHOWN)
    rates = [m.gain_bits / m.cost_minutes for m in found]
    assert rates == sorted(rates, reverse=True)
    if worthy:
        assert max(m.gain_bits for m in found) == max(bits for bits, _ in worthy)
        if len(found) > 1 or len(worthy) == 1:
            assert rates[0] == max(bits / minutes for bits, minutes in worthy)


@given(st.floats(WORTH, 3.0), st.floats(0.1, 500.0), st.floats(1.01, 10.0))
def test_cheaper_first_at_equal_bits_and_more_bits_first_at_equal_cost(
    bits: float, minutes: float, more: float
) -> None:
    cheap, expensive = some("cheap", bits, minutes), some("expensive", bits, minutes * more)
    rich = some("rich", bits * more, minutes)
    for pair in ((expensive, cheap), (cheap, rich)):
        assert choose_measures(pair) == choose_measures(pair[::-1])
    assert choose_measures([expensive, cheap])[0] is cheap
    assert choose_measures([cheap, rich])[0] is rich


def test_cheap_questions_do_not_displace_the_telling_one() -> None:
    cheap = [some(f"--fact x{i}=1", 0.06, 1.0) for i in range(5)]
    assert choose_measures([*cheap, some("log it", 1.5, 61.0)])[-1].how == "log it"
    assert choose_measures([some("--fact x=1", WORTH / 2, 0.001), some("log it", 1.5, 61.0)]) == (
        some("log it", 1.5, 61.0),
    )


def test_experiments_are_proposed_with_their_command_as_long_as_they_must_be() -> None:
    """2,000 steps of 3 s, and the loss diverges from step 1 on: 300 steps at a tenth of the rate, 15 minutes."""
    run = plain_run(
        train__loss=make.healthy_loss(2000), val__loss=make.healthy_loss(2000), time__step=np.full(2000, 3.0)
    )
    outcomes = all_but(fired("loss-diverges:early", severity="high"))
    found = {m.how: m for m in next_measures(ranked(*outcomes, run=run), outcomes, run, shown=99)}
    lower = found['traindx run --steps 300 --with "lr=*0.1" -- python train.py']
    assert lower.cost_minutes == pytest.approx(15.1)
    for how in found:
        words = shlex.split(how) if how.startswith("traindx run") else []
        assert parse([words[i + 1] for i, word in enumerate(words) if word == "--with"]) is not None


def test_of_a_recorded_run_no_other_recording_is_asked() -> None:
    run = msgspec.structs.replace(plain_run(), format="traindx")
    outcomes = all_but(fired("loss-flat-from-start", severity="high"))
    found = next_measures(ranked(*outcomes, run=run), outcomes, run, shown=99)
    assert found
    assert all(m.how != "traindx run -- python train.py" for m in found)


def test_sanity_experiments_are_proposed_where_nobody_made_them() -> None:
    flat = fired("loss-flat-from-start", severity="high")
    lacking = (
        absent("one-batch-not-fitted", "setup:one_batch_start"),
        absent("modes-disagree", "setup:modes_loss_eval"),
    )
    asked = [m.how for m in measured(*all_but(flat), *lacking)]
    assert "traindx check -- python train.py" in asked


def test_the_document_has_bits_and_minutes_of_real_runs() -> None:
    for loss in (np.full(300, 2.3) + 0.01 * make.rng().standard_normal(300), make.healthy_loss(300)):
        document = json.loads(pipeline.diagnose(make.run({"train/loss": loss})).to_json())
        for item in document["runs"][0]["next"]:
            assert set(item) == {"measure", "why", "how", "gain_bits", "cost_minutes", "decides"}
            assert item["gain_bits"] >= WORTH
            assert item["cost_minutes"] > 0


def test_what_any_rule_needs_is_asked_for_in_words() -> None:
    for rule in rules.catalogue():
        for need in rule.needs:
            name = need.split("|")[0]
            if name.startswith(("event:", "setup:")) or name in ("run", "objective"):
                continue
            measure, how = how_to_log(name)
            assert how
            assert "*" not in measure
            assert measure != name or "/" not in name, name
    assert how_to_log("grad_norm/*")[0] == "the gradient norm of every layer"
    assert (
        how_to_log("update_ratio/*")[0] == "the norm of the update over norm of the weights of every module"
    )


def test_through_all_rules() -> None:
    diagnosis = pipeline.diagnose(
        make.run({"train/loss": np.full(300, 2.3) + 0.01 * make.rng().standard_normal(300)})
    ).first
    assert 1 <= len(diagnosis.next) <= 3
    assert all(m.measure and m.why and m.how for m in diagnosis.next)


@pytest.mark.parametrize(
    ("framework", "asks"),
    [(None, "log lr (optimizer.param_groups[0]['lr'])"), ("keras", "log lr"), ("jax", "log lr")],
)
def test_how_to_log_has_no_names_of_pytorch_in_other_frameworks(framework: str | None, asks: str) -> None:
    run = msgspec.structs.replace(plain_run(), framework=framework)
    outcomes = all_but(
        absent("learning-rate-never-warms-up", "lr"), absent("gradient-norm-grows", "grad_norm")
    )
    found = signals_missing(outcomes, run, catalogue(), Features(run))
    assert asks in [c.how for c in found]
    assert any("torch." in c.how for c in found) == (framework is None)


def test_a_recording_is_asked_only_for_what_its_script_does_not_evaluate() -> None:
    """It has the rate, and gradients where the framework shows them."""
    run = msgspec.structs.replace(plain_run(), format="traindx", framework="sklearn")
    outcomes = all_but(
        absent("learning-rate-never-warms-up", "lr"), absent("validation-gap-grows", "val/loss")
    )
    found = signals_missing(outcomes, run, catalogue(), Features(run))
    assert [c.measure for c in found] == [how_to_log("val/loss")[0]]


@pytest.mark.parametrize(("framework", "there"), [("sklearn", False), ("keras", True)])
def test_no_change_from_outside_is_proposed_where_none_is_possible(framework: str, there: bool) -> None:
    run = msgspec.structs.replace(plain_run(), framework=framework)
    measures = measured(
        *all_but(fired("loss-falls-slowly"), absent("inputs-ignored", "setup:inputs")), run=run
    )
    assert any(m.how.startswith("traindx run --") for m in measures) == there
