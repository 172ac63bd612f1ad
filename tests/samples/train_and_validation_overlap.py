"""Samples of train-and-validation-overlap."""

from __future__ import annotations

from tests.captured import several, told
from traindx.vocabulary.run import Run


def fires() -> dict[str, Run]:
    return {
        **several("overlap"),
        "the training set is evaluated as well": told(
            "healthy", train_val_overlap_share=800 / 1200, val_samples_hashed=1200
        ),
    }


def stays_quiet() -> dict[str, Run]:
    return {
        **several("healthy", "healthy_values", "copies"),
        "two copies of four hundred": told("healthy", train_val_overlap_share=2 / 400),
    }
