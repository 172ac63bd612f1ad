"""What would change nothing is not started, and is not remembered as refuted."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from traindx.capture.experiment.applies import implementations, names_in
from traindx.fixes import catalogue
from traindx.lab.plan import Candidate, candidates
from traindx.lab.repair.conditions import refusal, why_idle, without_idle
from traindx.lab.repair.search import CURES
from traindx.lab.repair.source import Source
from traindx.vocabulary.diagnosis import Hypothesis
from traindx.vocabulary.run import Run
from traindx.vocabulary.setup import Fact, Setup
from traindx.vocabulary.trial import Untried

Plan = tuple[tuple[Candidate, ...], tuple[Untried, ...]]


def planned(folder: Path, cause: str, text: str = "", base: tuple[str, ...] = (), **known: Fact) -> Plan:
    """The plan for one cause, in a project with one script of this text."""
    (folder / "train.py").write_text(text)
    setup = Setup().with_facts(known, "capture")
    source = Source(["python", str(folder / "train.py")], folder, setup)
    vain = partial(why_idle, setup=setup, base=base, source=source)
    hypotheses = [Hypothesis(cause=cause, title=cause, probability=0.9)]
    return candidates(hypotheses, catalogue(), setup, CURES, refusal, pointless=vain)


def tried(plan: Plan) -> set[str]:
    return {spec for one in plan[0] for spec in one.interventions}


@pytest.mark.parametrize(("now", "wanted"), [
    (0.0, {"weight_decay=0.01"}),  # nothing to scale
    (0.01, {"weight_decay=*3"}),  # set to that already
    (0.1, {"weight_decay=0.01"}),  # the known cure of this cause comes first
])  # fmt: skip
def test_a_decay_is_not_scaled_from_nothing_nor_set_to_what_it_is(
    tmp_path: Path, now: float, wanted: set[str]
) -> None:
    found = tried(planned(tmp_path, "insufficient-regularization", weight_decay=now))
    assert {spec for spec in found if spec.startswith("weight_decay")} == wanted


def test_several_groups_or_an_applied_change_leave_it_open() -> None:
    none = Setup(weight_decay=0.0)
    assert (
        why_idle("weight_decay=*3", none, (), None) == "the weight_decay is 0, so there is nothing to scale"
    )
    assert why_idle("weight_decay=*3", none.with_facts({"parameter_groups": 2}, "capture"), (), None) == ""
    assert why_idle("weight_decay=*3", none, ("weight_decay=0.3",), None) == ""
    assert why_idle("weight_decay=*3", Setup(), (), None) == ""  # unknown is not absent
    assert (
        why_idle("weight_decay=0.1", Setup(weight_decay=0.1), (), None) == "the weight_decay is 0.1 already"
    )
    assert why_idle("weight_decay=0.1", Setup(weight_decay=0.2), (), None) == ""


def test_dropout_is_lowered_only_where_there_is_some(tmp_path: Path) -> None:
    cause = "dropout-too-high"
    plan = planned(tmp_path, cause, has_dropout=False)
    assert "dropout=*0.33" not in tried(plan)
    assert ("lower-dropout", "the model has no dropout") in [(one.fix, one.why) for one in plan[1]]
    assert "dropout=*0.33" in tried(planned(tmp_path, cause, has_dropout=True, dropout=0.9))
    assert "dropout=*0.33" in tried(planned(tmp_path, cause, "y = F.dropout(x, 0.9)", has_dropout=False))


def test_a_linear_model_has_no_hidden_layer_for_dropout() -> None:
    linear, deep = (Setup().with_facts({"depth": count}, "capture") for count in (1, 2))
    assert "no hidden layer" in why_idle("dropout=0.2", linear, (), None)
    assert not why_idle("dropout=0.2", deep, (), None)
    assert not why_idle("dropout=0.2", Setup(), (), None)
    assert not why_idle("dropout=0", linear, (), None)


def test_next_tokens_are_not_classes_to_be_weighted(tmp_path: Path) -> None:
    plan = planned(tmp_path, "class-imbalance", future_effect=0.0, classes=65)
    assert "class_weights=balanced" not in tried(plan)
    assert any("next tokens" in one.why for one in plan[1] if one.fix == "weight-classes")
    assert "class_weights=balanced" in tried(planned(tmp_path, "class-imbalance", classes=65))


@pytest.mark.parametrize(("spec", "there", "absent"), [
    ("zero_grad=each-step", {"zero_grad_missing_steps": 9}, {"zero_grad_missing_steps": 0}),
    ("register=all", {"parameters_without_optimizer": 0, "parameters_unregistered": 8},
     {"parameters_without_optimizer": 0, "parameters_unregistered": 0}),
    ("logits=on", {"loss_input_looks_like_probabilities": True}, {"loss_input_looks_like_probabilities": False}),
    ("data=shuffle", {"shuffle": False}, {"shuffle": True}),
    ("clip=off", {"zero_grad_checked_steps": 9, "clip_value": 0.1}, {"zero_grad_checked_steps": 9}),
    ("clip=*10", {"zero_grad_checked_steps": 9, "clip_norm": 0.1}, {"zero_grad_checked_steps": 9}),
])  # fmt: skip
def test_no_start_is_spent_on_a_repair_of_what_is_not_there(
    spec: str, there: dict[str, Fact], absent: dict[str, Fact]
) -> None:
    assert why_idle(spec, Setup().with_facts(absent, "capture"), (), None)
    assert not why_idle(spec, Setup().with_facts(there, "capture"), (), None)
    assert not why_idle(spec, Setup(), (), None)  # unknown is not absent


def test_a_fault_without_anything_to_repair_is_ruled_out_and_others_gain() -> None:
    causes = ("missing-zero-grad", "learning-rate-too-low", "healthy")
    before = tuple(
        Hypothesis(cause=c, title=c, probability=p) for c, p in zip(causes, (0.5, 0.3, 0.2), strict=True)
    )
    cleared = Setup().with_facts({"zero_grad_missing_steps": 0, "zero_grad_checked_steps": 99}, "capture")
    after = without_idle(before, cleared, None)
    assert after[0].cause == "learning-rate-too-low"
    assert {h.cause: h.probability for h in after}["missing-zero-grad"] < 0.05
    assert {h.cause: h.probability for h in after}["healthy"] == pytest.approx(0.2)  # nothing speaks for it
    uncleared = Setup().with_facts({"zero_grad_missing_steps": 99}, "capture")
    assert without_idle(before, uncleared, None) == before
    assert without_idle(before, Setup(), None) == before


def recorded(framework: str, optimizer: str | None = None) -> Run:
    return Run(id="r", source="r", format="store", framework=framework, setup=Setup(optimizer=optimizer))


def test_no_start_is_spent_on_what_a_framework_cannot_change() -> None:
    known = recorded("jax", "adam")
    assert not refusal("lr=*0.1", "clip=1.0", run=known)
    assert refusal("batch=*0.25", run=known) == "not possible from outside in JAX trainings"
    assert not refusal("batch=*0.25", run=recorded("keras"))
    assert not refusal("zero_grad=each-step", run=recorded("torch"))
    assert "no optimizer of optax" in refusal("lr=*0.1", run=recorded("jax"))
    assert not refusal("seed=1", run=recorded("jax"))


def test_a_loader_that_the_record_lacks_cannot_be_changed() -> None:
    def run(**facts: Fact) -> Run:
        setup = Setup().with_facts({"zero_grad_checked_steps": 9, **facts}, "capture")
        return Run(id="r", source="r", format="store", framework="torch", setup=setup)

    assert "makes them itself" in refusal("batch=*0.25", run=run())
    assert not refusal("batch=*0.25", run=run(sampler="RandomSampler"))
    assert not refusal("lr=*0.1", run=run())
    assert not refusal("batch=*0.25", run=recorded("keras"))


def test_classes_have_no_scale_to_standardize() -> None:
    def run(loss: str) -> Run:
        setup = Setup().with_facts({"loss_name": loss}, "capture")
        return Run(id="r", source="r", format="store", framework="torch", setup=setup)

    assert refusal("targets=standardize", run=run("cross_entropy")) == (
        "the loss is cross_entropy, not a regression loss"
    )
    assert not refusal("targets=standardize", run=run("mse_loss"))
    assert not refusal("targets=standardize", run=recorded("torch"))
    assert not refusal("inputs=standardize", run=run("cross_entropy"))


def test_the_interventions_of_a_framework_are_read_from_its_source() -> None:
    pytest.importorskip("torch")
    assert names_in("torch") == set(implementations("traindx.capture.torch.interventions"))
    assert not names_in("sklearn")


def test_a_script_that_updates_its_parameters_itself_is_changed_in_its_source() -> None:
    itself, named = recorded("torch", "by hand"), recorded("torch", "adam")
    for spec in ("lr=*0.1", "clip=1.0", "optimizer=adamw"):
        assert refusal(spec, run=itself) == "the script changes its parameters itself, without an optimizer"
        assert not refusal(spec, run=named)
    assert not refusal("seed=1", run=itself)
