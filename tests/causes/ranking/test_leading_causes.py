"""Which cause leads for the findings of a run, by the catalogue as it is."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from tests import make
from tests.causes.made import SEEN, all_but, clear, faults, fired, order, plain_run, ranked
from tests.causes.ranking.test_rank import probability_of
from tests.causes.verdict.test_decision import recorded
from traindx.vocabulary.rule import Outcome


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


@pytest.mark.parametrize(
    ("setup", "first"),
    [
        ({"modules": "recurrent", "lr": "0.001", "optimizer": "sgd"}, "exploding-recurrence"),
        ({"modules": "recurrent", "lr": "10", "optimizer": "sgd"}, "learning-rate-too-high"),
        ({"modules": "linear", "lr": "0.001", "optimizer": "sgd"}, "learning-rate-too-high"),
    ],
)
def test_a_huge_update_of_a_low_rate_is_the_recurrence(setup: dict[str, str], first: str) -> None:
    """The gradient makes an update large as the rate does, and a product over all positions is large at once."""
    nan = fired("loss-not-finite:early", severity="critical")
    update = fired("updates-too-large:first-steps", severity="high")
    run = recorded(setup, train__loss=make.healthy_loss(40))
    causes = [
        c for c in faults(nan, update, run=run) if c in ("exploding-recurrence", "learning-rate-too-high")
    ]
    assert causes[0] == first


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


def test_weights_that_collapse_without_decay_have_nothing_to_learn() -> None:
    """Targets that do not depend on the inputs shrink weights as a penalty does."""
    collapsed = fired("weights-collapse", severity="high")
    assert faults(collapsed, setup={"weight_decay": 0.5})[0] == "weight-decay-too-high"
    found = faults(collapsed, fired("loss-at-chance", severity="high"), setup={"weight_decay": 0})
    assert found.index("misaligned-labels") <= 1
