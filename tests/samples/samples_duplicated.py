"""Samples of samples-duplicated."""

from __future__ import annotations

from tests.captured import several, told
from traindx.vocabulary.run import Run


def fires() -> dict[str, Run]:
    return {
        **several("copies"),
        "a fifth of the set is copies": told("healthy", train_samples_hashed=640),
    }


def stays_quiet() -> dict[str, Run]:
    return {
        **several("healthy", "healthy_values", "sorted"),
        "augmentation makes more samples than there are": told("healthy", train_samples_hashed=9000),
    }
