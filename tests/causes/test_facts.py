from __future__ import annotations

import math
import re

import msgspec
import numpy as np
import pytest
from hypothesis import given, strategies as st

from tests import make
from tests.causes.verdict.test_decision import PANEL
from traindx.causes.facts import FACTS, facts_of
from traindx.causes.grades.setup import decades, probabilities, unheld
from traindx.features.log_artifacts import suspicions
from traindx.features.shared import Features
from traindx.vocabulary.run import Event, Run
from traindx.vocabulary.setup import FACT_FIELDS, Setup


def facts_by_name(run: Run) -> dict[str, bool]:
    return facts_of(run, Features(run))


def given_facts(**facts: object) -> dict[str, bool]:
    return facts_by_name(
        make.run({"train/loss": make.healthy_loss(200)}, setup=Setup().with_facts(facts, "given"))
    )  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("loss", "word"),
    [
        ("binary_cross_entropy", None),
        ("binary_cross_entropy_with_logits", "yes"),
        ("cross_entropy", "yes"),
        ("", None),
    ],
)
def test_a_binary_loss_of_probabilities_is_to_get_them(loss: str, word: str | None) -> None:
    setup = Setup().with_facts({"loss_name": loss, "loss_input_looks_like_probabilities": True}, "capture")
    run = make.run({"train/loss": make.healthy_loss(200)}, setup=setup)
    assert probabilities(run, Features(run)) == word


@pytest.mark.parametrize(
    ("facts", "huge"), [({"loss": "mse"}, True), ({"targets_std": 40.0}, True), ({}, None)]
)
def test_a_giant_loss_of_unknown_zero_says_nothing_of_targets(
    facts: dict[str, object], huge: bool | None
) -> None:
    series = {"train/loss": 1e3 * make.healthy_loss(200)}
    run = make.run(series, setup=Setup().with_facts(facts, "capture"))
    seen = msgspec.structs.replace(run, panels={"grad_norm": PANEL})
    assert facts_by_name(seen).get("huge-loss") is huge
    assert facts_by_name(run)["huge-loss"]  # a log names its losses, and shows no targets


def test_a_net_of_random_draws_is_not_known_to_be_fine_tuned() -> None:
    assert "finetuning" not in given_facts(initial_weights_drawn=0.9)


def test_silence_leaves_set_up_facts_unknown() -> None:
    known = given_facts()
    assert known == {"few-updates": False, "rewards-logged": False, "huge-loss": False}


@pytest.mark.parametrize(
    ("facts", "name", "holds"),
    [
        ({"world_size": 2}, "several-processes", True),
        ({"world_size": 1}, "several-processes", False),
        ({"precision": "fp16"}, "half-precision", True),
        ({"precision": "16-mixed"}, "half-precision", True),
        ({"precision": "O2"}, "half-precision", True),
        ({"precision": "bf16"}, "half-precision", False),
        ({"precision": "bf16"}, "bfloat16", True),
        ({"precision": "fp32"}, "half-precision", False),
        ({"lr": 0.01, "optimizer": "AdamW"}, "lr-high-for-optimizer", True),
        ({"lr": 0.01, "optimizer": "SGD"}, "lr-high-for-optimizer", False),
        ({"lr": 2.0, "optimizer": "SGD"}, "lr-high-for-optimizer", True),
        ({"lr": 1.0, "optimizer": "Adadelta"}, "lr-high-for-optimizer", False),
        ({"lr": 100.0, "optimizer": "Adadelta"}, "lr-high-for-optimizer", True),
        ({"lr": 1e-3, "optimizer": "Lion"}, "lr-high-for-optimizer", True),
        ({"lr": 3e-4, "optimizer": "adam"}, "lr-low-for-optimizer", False),
        ({"lr": 1e-5, "optimizer": "sgd"}, "lr-low-for-optimizer", True),
        ({"warmup_steps": 0}, "no-warmup", True),
        ({"warmup_steps": 500}, "no-warmup", False),
        ({"clip_norm": 0}, "clip-set", False),
        ({"clip_norm": 1.0}, "clip-set", True),
        ({"parameters": 1e6, "dataset_size": 1000}, "parameters-exceed-data", True),
        ({"parameters": 1e6, "dataset_size": 1e6}, "parameters-exceed-data", False),
        ({"batch_size": 2}, "small-batch", True),
        ({"batch_size": 2, "accumulation": 16}, "small-batch", False),
        (
            {"batch_size": 2, "has_normalization": True, "normalization_momentum": 0.1},
            "normalizes-few",
            True,
        ),
        ({"batch_size": 2, "has_normalization": True}, "normalizes-few", False),
        (
            {"batch_size": 32, "has_normalization": True, "normalization_momentum": 0.1},
            "normalizes-few",
            False,
        ),
        ({"batch_size": 1000, "dataset_size": 2000}, "large-batch", True),
        ({"momentum": 0.999}, "high-momentum", True),
        ({"momentum": 0.9}, "high-momentum", False),
        ({"weight_decay": 0.1, "optimizer": "adamw"}, "high-weight-decay", False),
        ({"weight_decay": 0.1, "optimizer": "adam"}, "high-weight-decay", True),
        ({"weight_decay": 0, "dropout": 0}, "no-regularization", True),
        ({"dropout": 0.95}, "high-dropout", True),
        ({"shuffle": "batch"}, "shuffle-off", True),
        ({"shuffle": True}, "shuffle-off", False),
        ({"shuffle": False}, "shuffle-off", True),
        ({"model": "resnet-rcnn"}, "recurrent-model", False),
        ({"model": "2-layer LSTM"}, "recurrent-model", True),
        ({"finetuning": "true"}, "finetuning", True),
        ({"initial_weights_drawn": 0.1}, "finetuning", True),
        ({"workers": 0}, "no-workers", True),
        ({"device": "cpu"}, "on-processor", True),
        ({"device": "cuda:0"}, "on-processor", False),
        ({"optimizer": "sgd", "momentum": 0}, "plain-sgd", True),
        ({"accumulation": 4}, "accumulates-gradients", True),
        ({"quantized": "yes"}, "quantized", True),
        ({"planned_steps": 200}, "finished", True),
        ({"planned_steps": 2000}, "finished", False),
    ],
)
def test_set_up_facts(facts: dict[str, object], name: str, holds: bool) -> None:
    assert given_facts(**facts)[name] is holds


def test_a_fine_tuned_model_may_be_larger_than_its_data() -> None:
    facts = {"parameters": 7e9, "dataset_size": 1000}
    assert "parameters-exceed-data" not in given_facts(**facts, finetuning=True)


def test_the_logged_rate_counts_before_the_one_asked_for() -> None:
    signals = {"train/loss": make.healthy_loss(50), "lr": np.full(50, 0.05)}
    run = make.run(signals, setup=Setup(lr=1e-4, optimizer="adam"))
    assert facts_by_name(run)["lr-high-for-optimizer"]
    assert facts_by_name(run)["no-warmup"]


def test_a_loss_scale_in_use_is_half_precision() -> None:
    loss = make.healthy_loss(50)
    assert facts_by_name(make.run({"train/loss": loss, "loss_scale": np.full(50, 65536.0)}))[
        "half-precision"
    ]
    assert "half-precision" not in facts_by_name(
        make.run({"train/loss": loss, "loss_scale": np.full(50, -1.0)})
    )


def test_a_resume_is_a_fact_only_where_it_was_seen() -> None:
    loss = make.healthy_loss(50)
    assert facts_by_name(make.run({"train/loss": loss}, events=(Event("resume", "again", 20.0),)))["resumed"]
    assert "resumed" not in facts_by_name(make.run({"train/loss": loss}))


@pytest.mark.parametrize("k", [2, 10, 1000])
def test_floors_and_starts_by_the_number_of_classes(k: int) -> None:
    """Softmax of probabilities: the best a right answer can score is e / (e + k - 1)."""
    floor = -math.log(math.e / (math.e + k - 1))
    curve = floor + 0.5 * np.exp(-np.arange(100) / 8)
    setup = Setup(classes=k)
    assert facts_by_name(make.run({"train/loss": curve}, setup=setup))["double-softmax-floor"]
    assert not facts_by_name(make.run({"train/loss": curve * 1.2}, setup=setup))["double-softmax-floor"]
    assert not facts_by_name(make.run({"train/loss": np.linspace(math.log(k), 0.01, 100)}, setup=setup))[
        "starts-above-chance"
    ]
    assert facts_by_name(make.run({"train/loss": np.linspace(3 * math.log(k), 1, 100)}, setup=setup))[
        "starts-above-chance"
    ]


def test_a_clamped_logarithm() -> None:
    """As the check of the log itself finds it: -ln of the smallest float32, times a loss weight."""
    smallest = -math.log(float(np.finfo(np.float32).tiny))
    for weight, holds in ((1, True), (20, True), (1.01, False)):
        run = make.run({"train/loss": [184.3, smallest * weight, smallest * weight]})
        run = msgspec.structs.replace(run, events=suspicions(run))
        assert facts_by_name(run).get("clamped-loss", False) is holds


def test_a_loss_that_is_summed_over_micro_batches() -> None:
    loss = make.healthy_loss(60, noise=0.0)
    run = make.run({"train/loss": 8 * loss, "val/loss": loss}, setup=Setup(accumulation=8))
    assert facts_by_name(msgspec.structs.replace(run, events=suspicions(run)))["accumulation-scaled"]


def test_one_answer_for_everything() -> None:
    loss = make.healthy_loss(20)
    stuck = make.run({"train/loss": loss, "val/accuracy": np.full(20, 0.106)})
    frozen_late = make.run(
        {"train/loss": loss, "val/accuracy": np.r_[np.linspace(0.1, 0.9, 4), np.full(16, 0.9)]}
    )
    solved = make.run({"train/loss": loss, "val/accuracy": np.full(20, 1.0)})
    percent = make.run({"train/loss": loss, "val/accuracy": np.full(20, 100.0)})
    found = [facts_by_name(run)["answers-one-class"] for run in (stuck, frozen_late, solved, percent)]
    assert found == [True, False, False, False]


def test_validation_that_never_moves() -> None:
    train = make.healthy_loss(50)
    bad = np.full(50, 2.7) + 0.02 * make.rng(0).standard_normal(50)
    overfits = np.concatenate([np.linspace(1.0, 0.9, 10), np.linspace(0.9, 1.6, 40)])
    follows = train + 0.1
    found = [facts_by_name(make.run({"train/loss": train, "val/loss": v})) for v in (bad, overfits, follows)]
    assert [f["validation-never-improves"] for f in found] == [True, False, False]


anything = st.one_of(st.text(max_size=8), st.floats(), st.integers(-10, 10**12), st.booleans())


@given(
    st.dictionaries(
        st.sampled_from([*sorted(FACT_FIELDS), "dropout", "shuffle", "finetuning"]), anything, max_size=8
    )
)
def test_hostile_facts_do_no_harm(facts: dict[str, object]) -> None:
    assert all(isinstance(value, bool) for value in given_facts(**facts).values())


def test_names_are_slugs() -> None:
    assert all(re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)+|[a-z0-9]+", name) for name in FACTS)


@pytest.mark.parametrize(
    ("facts", "share"),
    [
        ({"parameters_total": 300, "parameters_without_optimizer": 0}, 0.0),
        ({"parameters_total": 300, "parameters_without_optimizer": 0, "parameters_unregistered": 100}, 0.25),
        ({"parameters_total": 300, "parameters_without_optimizer": 60, "parameters_unregistered": 100}, 0.4),
        ({"parameters_unregistered": 100}, None),
        ({"parameters_total": 300, "parameters_without_optimizer": 0, "backwards_without_step": 3}, None),
    ],
)
def test_layers_in_a_plain_list_are_in_no_optimizer(facts: dict[str, float], share: float | None) -> None:
    run = make.surveyed(**facts)
    assert unheld(run, Features(run)) == share


@pytest.mark.parametrize("gain", [-8.0, 0.0])
def test_a_gain_that_cannot_be_is_not_graded(gain: float) -> None:
    setup = Setup().with_facts({"initial_gain_min": gain, "initial_gain_max": gain}, "given")
    run = make.run({"train/loss": make.healthy_loss(200)}, setup=setup)
    assert decades("initial_gain_min")(run, Features(run)) is None
    assert decades("initial_gain_max")(run, Features(run)) is None


@pytest.mark.parametrize(("framework", "known"), [("xgboost", False), ("lightgbm", False), ("torch", True)])
def test_validation_that_is_bad_at_once_says_nothing_of_boosted_trees(framework: str, known: bool) -> None:
    """The first deep tree can overfit, and trees do not depend on how a feature is scaled."""
    steps = np.arange(1.0, 41.0)
    val, train = 0.8 + 0.15 * steps, 0.1 * np.exp(-steps / 5) + 0.01
    run = msgspec.structs.replace(
        make.run({"train/loss": (steps, train), "val/loss": (steps, val)}), framework=framework
    )
    assert facts_by_name(run).get("validation-bad-at-once") is (True if known else None)
