"""Two changes at once: which go together. That they are found and proved is shown on real scripts."""

from __future__ import annotations

import pytest

from traindx.lab.repair.combinations import Applied, Two, causes_of_both


@pytest.mark.parametrize(
    ("first", "second", "apart"),
    [
        (("weight_decay=0",), ("dropout=*0.33",), True),
        (
            ("lr=*10",),
            ("optimizer=adamw", "lr=0.0003"),
            False,
        ),  # the second rate would take the place of the first
        (("source=step-the-optimizer",), ("source=weight-classes",), True),
        (("source=feed-logits-to-loss",), ("lr=*0.1",), True),
    ],
)
def test_two_that_change_the_same_thing_are_not_tried_at_once(
    first: tuple[str, ...], second: tuple[str, ...], apart: bool
) -> None:
    assert Two(Applied("a", first), Applied("b", second), "x").apart is apart


def test_two_at_once_are_one_candidate_with_both_names() -> None:
    one = Two(
        Applied("lower-weight-decay", ("weight_decay=0",)), Applied("lower-dropout", ("dropout=0",)), "x + y"
    )
    assert one.candidate.fix == "lower-weight-decay + lower-dropout"
    assert one.candidate.interventions == ("weight_decay=0", "dropout=0")
    assert causes_of_both("x", "y") == "x + y"
    assert causes_of_both("x", "x") == "x"
