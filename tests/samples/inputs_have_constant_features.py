"""Samples of inputs-have-constant-features."""

from __future__ import annotations

from tests.captured import several, with_facts
from tests.make import surveyed
from traindx.vocabulary.run import Run


def fires() -> dict[str, Run]:
    return {
        **several("blank_inputs"),
        "a third of the features": with_facts("healthy", inputs_constant_features=11),
        "a named column of a table": surveyed(
            inputs_constant_features=1, inputs_features=30, inputs_constant_where="version"
        ),
    }


def stays_quiet() -> dict[str, Run]:
    return {
        **several("healthy", "raw_inputs"),
        "the border of an image": with_facts("healthy", inputs_constant_features=5),
        "a table without one": surveyed(
            inputs_constant_features=0, inputs_features=30, inputs_constant_where=""
        ),
    }
