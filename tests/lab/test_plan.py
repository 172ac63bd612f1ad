"""What is tried, and in which order."""

from __future__ import annotations

import pytest

from traindx.causes.experiments import TRIED
from traindx.fixes import catalogue
from traindx.lab.plan import Candidate, candidates, merge_interventions, steps_for
from traindx.lab.repair.conditions import CURES, refusal
from traindx.vocabulary.diagnosis import Hypothesis
from traindx.vocabulary.setup import Setup


def planned(
    *beliefs: tuple[str, float], record: object = None, setup: Setup = Setup()
) -> tuple[Candidate, ...]:
    hypotheses = [Hypothesis(cause=c, title=c, probability=p) for c, p in beliefs]
    more = {} if record is None else {"record": record}
    return candidates(hypotheses, catalogue(), setup, CURES, refusal, **more)[0]  # type: ignore[arg-type]


def test_the_likely_cause_comes_first_and_health_asks_for_nothing() -> None:
    found = planned(("learning-rate-too-high", 0.7), ("missing-zero-grad", 0.2), ("healthy", 0.1))
    assert found[0].fix == "lower-learning-rate"
    assert found[0].doses[0] == (("lr=*0.1",), ("lr=*0.01",))
    assert "zero-gradients-each-step" in [c.fix for c in found]
    assert not planned(("healthy", 1.0))
    assert not planned(("learning-rate-too-high", 0.01))


def test_what_was_confirmed_before_comes_earlier() -> None:
    def record(fix: str, cause: str) -> tuple[float, float]:
        return (
            (8.0, 0.0)
            if fix == "clip-gradients"
            else (0.0, 8.0)
            if fix == "lower-learning-rate"
            else (0.0, 0.0)
        )

    belief = ("learning-rate-too-high", 0.9)
    assert planned(belief)[0].fix == "lower-learning-rate"
    assert planned(belief, record=record)[0].fix == "clip-gradients"


def test_alternatives_go_the_way_that_the_cause_asks_for() -> None:
    large = [c.interventions for c in planned(("batch-too-large", 0.9)) if c.fix == "change-batch-size"]
    assert large == [("batch=*0.25",)]


def test_what_cannot_be_made_from_outside_is_written_into_the_source() -> None:
    belief = [Hypothesis(cause="batch-too-large", title="", probability=0.9)]

    def found(no_source: str) -> list[Candidate]:
        plan, _ = candidates(
            belief, catalogue(), Setup(), CURES, lambda spec: "no loader" if spec.startswith("batch") else "",
            no_source=lambda what: no_source if what == "batch=*0.25" else "no edit",
        )  # fmt: skip
        return [one for one in plan if one.fix == "change-batch-size"]

    assert [one.interventions for one in found("")] == [("source=batch=*0.25",)]
    assert found("")[0].doses[0] == (("source=batch=*0.25",), ("source=batch=*0.0625",))
    assert not found("not certain")


def test_training_longer_is_the_last_resort_for_a_run_that_probably_lacks_it() -> None:
    def found(probability: float, source: str = "") -> list[Candidate]:
        belief = [
            Hypothesis(cause=c, title=c, probability=p)
            for c, p in (
                ("undertrained", probability),
                ("learning-rate-too-low", 0.2),
                ("bad-initialization", 0.1),
            )
        ]
        return list(candidates(belief, catalogue(), Setup(), CURES, refusal, no_source=lambda _: source)[0])

    assert found(0.7)[-1].interventions == ("source=steps=*2",)
    assert found(0.7)[-1].doses == ((("source=steps=*2",),), (("source=steps=*4",),))
    assert len(found(0.7)) > 2
    assert "train-longer" not in [one.fix for one in found(0.4)]
    assert "train-longer" not in [one.fix for one in found(0.7, "not certain")]


def test_a_fix_whose_parts_belong_together_is_tried_as_one() -> None:
    found = [c for c in planned(("unsuitable-optimizer", 0.9)) if c.fix == "switch-optimizer"]
    assert [c.interventions for c in found] == [("optimizer=adamw", "lr=0.0003")]
    assert found[0].doses[0][1] == ("optimizer=adamw", "lr=0.003"), "a small net takes a higher rate"


def test_what_cannot_be_tried_says_why() -> None:
    belief = [
        Hypothesis(cause=c, title=c, probability=0.3)
        for c in ("too-little-data", "out-of-memory", "memory-leak")
    ]
    _, left = candidates(belief, catalogue(), Setup(), CURES, refusal)
    why = {u.fix: u.why for u in left}
    assert "person" in why["augment-data"]
    assert "code" in why["release-graph"]
    assert "outside" in why["checkpoint-activations"]


@pytest.mark.parametrize("cause", sorted(TRIED))
def test_every_cause_with_an_experiment_has_a_fix_that_can_be_tried(cause: str) -> None:
    assert planned((cause, 0.9)), cause


@pytest.mark.parametrize(
    ("base", "more", "together"),
    [
        (("lr=*0.1",), ("lr=*0.1",), ("lr=*0.01",)),
        (("lr=0.01",), ("lr=*0.1",), ("lr=0.001",)),
        (("lr=*0.1",), ("lr=0.5",), ("lr=0.5",)),
        (("clip=1.0",), ("lr=*10",), ("clip=1.0", "lr=*10")),
        (("optimizer=adamw", "lr=0.0003"), ("lr=*3",), ("optimizer=adamw", "lr=0.0009")),
        (("lr=constant",), ("lr=*0.1",), ("lr=constant", "lr=*0.1")),
        (("clip=1.0",), ("clip=off",), ("clip=1.0", "clip=off")),
        (("lr=3e-05",), ("lr=*0.1",), ("lr=3e-06",)),
        (("source=add-dropout",), ("source=shuffle-data",), ("source=add-dropout", "source=shuffle-data")),
        (("source=batch=*0.25", "lr=1"), ("source=batch=*0.5",), ("source=batch=*0.125", "lr=1")),
    ],
)
def test_changes_on_top_of_each_other(
    base: tuple[str, ...], more: tuple[str, ...], together: tuple[str, ...]
) -> None:
    assert merge_interventions(base, more) == together


def test_long_runs_are_tried_in_part_and_as_far_as_the_fault_shows() -> None:
    assert steps_for(1000, 2.0, None, None) is None
    assert steps_for(1000, 4.0, None, None) == 501
    assert steps_for(1000, 10.0, None, None) == 334
    assert steps_for(9000, 900.0, None, None) == 3001
    assert steps_for(9000, 900.0, 4000, None) == 4001
    assert steps_for(9000, 900.0, None, 2000) == 4401
    assert steps_for(9000, 900.0, 8900, None) is None
    assert steps_for(5, 60.0, None, None) is None, "a part of a few steps shows nothing"
    assert steps_for(45, 60.0, None, None) == 21
