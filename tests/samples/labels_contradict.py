"""Samples of labels-contradict."""

from __future__ import annotations

from tests.make import surveyed
from traindx.vocabulary.run import Run


def fires() -> dict[str, Run]:
    return {
        "one in twenty": surveyed(
            samples_conflicting=100, samples_conflicting_share=0.05, samples_duplicate_chance=0.0
        ),
        "few": surveyed(
            samples_conflicting=2, samples_conflicting_share=0.001, samples_duplicate_chance=0.0
        ),
        "answers of a survey": surveyed(
            samples_conflicting=300, samples_conflicting_share=0.3, samples_duplicate_chance=0.6
        ),
    }


def stays_quiet() -> dict[str, Run]:
    return {
        "none": surveyed(samples_conflicting=0, samples_conflicting_share=0.0),
    }
