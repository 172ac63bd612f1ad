from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import make
from tests.causes.made import absent, all_but, fired, plain_run, ranked
from traindx import pipeline
from traindx.causes import catalogue, next_measures
from traindx.causes.facts import QUESTIONS
from traindx.causes.next_measures import Question, entropy, gain, question, strongest
from traindx.vocabulary.diagnosis import NextMeasure
from traindx.vocabulary.rule import Outcome
from traindx.vocabulary.run import Run

beliefs = st.lists(st.floats(0.01, 1.0), min_size=2, max_size=6).map(lambda p: np.array(p) / sum(p))


def measured(*outcomes: Outcome, run: Run | None = None) -> tuple[NextMeasure, ...]:
    run = run or plain_run()
    return next_measures(ranked(*outcomes, run=run), outcomes, run)


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
    causes = [c for c in catalogue() if c.slug in ("learning-rate-too-high", "learning-rate-too-low", "memory-leak")]
    asked = question("gradient-norm-explodes", causes, 0.05)
    assert asked is not None
    by_slug = dict(zip((c.slug for c in causes), asked.likelihood, strict=True))
    assert by_slug["learning-rate-too-high"] > by_slug["memory-leak"] == pytest.approx(0.05)
    assert by_slug["learning-rate-too-low"] < by_slug["memory-leak"]
    assert question("no-such-rule", causes, 0.05) is None


def test_members_of_one_group_are_asked_once() -> None:
    one, two = Question("loss-not-finite", np.array([0.9, 0.1])), Question("loss-diverges", np.array([0.8, 0.1]))
    assert strongest([two, one]) == (one,)


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


def test_nan_under_unknown_precision_asks_for_it_until_it_is_told() -> None:
    nan = fired("loss-not-finite:late,norm-normal-before", severity="critical")
    asked = measured(*all_but(nan))
    assert any("precision" in m.how for m in asked) or any("non-finite" in m.measure for m in asked)
    told = plain_run({"precision": "fp32"})
    assert not any("--fact precision" in m.how for m in measured(*all_but(nan), run=told))


def test_nothing_is_asked_for_twice_or_though_it_is_there() -> None:
    run = make.run({"train/loss": make.healthy_loss(200), "val/loss": make.healthy_loss(200), "lr": np.full(200, 0.1)})
    for slug in ("loss-oscillates", "loss-flat-from-start", "loss-diverges", "validation-gap-grows", "loss-plateaus"):
        found = measured(*all_but(fired(slug, severity="high")), run=run)
        assert len(found) <= 3
        assert len({m.how for m in found}) == len(found)
        assert [m.gain_bits for m in found] == sorted((m.gain_bits for m in found), reverse=True)
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
            told = run.setup.with_facts({name: "1"}, "given")
            assert told.known(name) == "1"


def test_through_all_rules() -> None:
    diagnosis = pipeline.diagnose(
        make.run({"train/loss": np.full(300, 2.3) + 0.01 * make.rng().standard_normal(300)})
    ).first
    assert 1 <= len(diagnosis.next) <= 3
    assert all(m.measure and m.why and m.how for m in diagnosis.next)
