"""Networks that were really trained with a known fault: its cause must be among the first three.

A choice, not a score. Of 21 recipes tried with these trainers, 12 had their cause among the first three; the table
holds nine of those. Missed, since a log of loss, accuracy, rate and global norm shows no sign of them, or one that
others share: a rate of 1e-5, one hidden unit, batches of one at rate 0.3, a schedule that decays in every batch,
eight layers of sigmoids or of weights too small, gradients never cleared at a small rate, units that die midway,
momentum 0.999. Wrong labels come third with about one percent: overfitting explains their curves as well.
"""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from tests.loops import Loop, trained
from tests.trainer import Recipe, train
from traindx import pipeline
from traindx.vocabulary.run import Run


def first_three(run: Run, facts: dict[str, Any]) -> list[str]:
    with_facts = msgspec.structs.replace(run, setup=run.setup.with_facts(facts, "given"))
    return [h.cause for h in pipeline.diagnose(with_facts).first.hypotheses[:3]]


FAULTS: dict[str, tuple[Recipe | Loop, dict[str, Any], str]] = {
    "rate 5 with momentum": (Recipe(lr=5.0), {"optimizer": "sgd"}, "learning-rate-too-high"),
    "rate 1.5 with momentum": (Recipe(lr=1.5), {"optimizer": "sgd"}, "learning-rate-too-high"),
    "Adam at 3": (Recipe(lr=3.0, adam=True), {"optimizer": "adam"}, "learning-rate-too-high"),
    "40 % wrong labels": (
        Recipe(samples=600, label_noise=0.4, hidden=256, steps=500),
        {},
        "label-noise",
    ),
    "100 samples": (
        Recipe(samples=100, hidden=256, steps=500),
        {"dataset_size": 100, "parameters": 6656},
        "too-little-data",
    ),
    "weight decay 1": (Recipe(weight_decay=1.0), {"weight_decay": 1.0}, "weight-decay-too-high"),
    "dropout 0.9": (Recipe(dropout=0.9, hidden=16), {"dropout": 0.9}, "dropout-too-high"),
    "clipped to a thousandth": (Loop(clip=1e-3), {"clip_norm": 1e-3, "classes": 4}, "clip-too-tight"),
    "twenty layers, twice the gain": (Loop(depth=20, gain=3.0), {"classes": 4}, "bad-initialization"),
}


@pytest.mark.parametrize("name", FAULTS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # the nets overflow on purpose
def test_the_fault_is_among_the_first_three(name: str) -> None:
    recipe, facts, cause = FAULTS[name]
    run = train(recipe) if isinstance(recipe, Recipe) else trained(recipe)
    assert cause in first_three(run, facts)


def test_a_net_that_learns_is_healthy() -> None:
    assert first_three(train(Recipe(samples=20_000)), {})[0] == "healthy"
