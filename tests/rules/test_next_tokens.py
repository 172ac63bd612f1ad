"""Next-token targets have no balance of classes to judge."""

from __future__ import annotations

import pytest

from tests.captured import with_facts
from traindx.causes.grades.setup import majority
from traindx.features.shared import Features
from traindx.rules import judge_one
from traindx.rules.dat.classes_imbalanced import classes_imbalanced


@pytest.mark.parametrize(("label_max", "status"), [(94, "not-evaluated"), (4, "fired")])
def test_frequencies_of_the_next_token_are_no_imbalance(label_max: int, status: str) -> None:
    """One character in, one out; and a text that has one of five classes."""
    run = with_facts(
        "healthy", class_counts_max_min_ratio=500.0, class_majority_share=0.7, classes_seen=5,
        tokens_max=96, label_max=label_max, targets_shape="",
    )  # fmt: skip
    assert judge_one(classes_imbalanced, run, Features(run), {}).status == status
    assert (majority(run, Features(run)) is None) == (status == "not-evaluated")
