"""Samples of features-duplicated."""

from __future__ import annotations

from tests.make import surveyed
from traindx.vocabulary.run import Run


def fires() -> dict[str, Run]:
    return {
        "one": surveyed(
            inputs_duplicate_features=1, inputs_features=9, inputs_duplicate_where="metres = feet"
        ),
    }


def stays_quiet() -> dict[str, Run]:
    return {
        "none": surveyed(inputs_duplicate_features=0, inputs_features=9),
    }
