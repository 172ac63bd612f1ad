"""Samples of program-shows-mistake."""

from __future__ import annotations

from tests import make
from traindx.rules.lop.program_shows_mistake import WORDS
from traindx.vocabulary.run import Run
from traindx.vocabulary.setup import Setup


def fires() -> dict[str, Run]:
    return {
        name: make.run(
            {"train/loss": 2.3 + 0.01 * make.rng().normal(size=40)}, setup=Setup(facts={"mistakes": name})
        )
        for name in WORDS
    }


def stays_quiet() -> dict[str, Run]:
    return {
        "a question without a program": make.run(
            {"train/loss": make.healthy_loss(40)}, setup=Setup(facts={"mistakes": ""})
        ),
    }
