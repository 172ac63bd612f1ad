"""Samples of samples-duplicated."""

from __future__ import annotations

from tests.captured import several, with_facts
from tests.make import surveyed
from traindx.vocabulary.run import Run


def fires() -> dict[str, Run]:
    return {
        **several("copies"),
        "a fifth of the set is copies": with_facts("healthy", train_samples_hashed=640),
        "a file with copies": surveyed(samples_duplicate_share=0.05, samples_duplicate_chance=0.0),
        "a file of few answers": surveyed(samples_duplicate_share=0.6, samples_duplicate_chance=0.5),
    }


def stays_quiet() -> dict[str, Run]:
    return {
        **several("healthy", "healthy_values", "sorted"),
        "augmentation makes more samples than there are": with_facts("healthy", train_samples_hashed=9000),
        "a file with one copy": surveyed(samples_duplicate_share=1 / 150, samples_duplicate_chance=0.0),
    }
