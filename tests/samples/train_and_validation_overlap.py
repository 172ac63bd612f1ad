"""Samples of train-and-validation-overlap."""

from __future__ import annotations

import msgspec

from tests.captured import several, with_facts
from tests.make import surveyed
from traindx.vocabulary.run import Run

OVERSAMPLED = {
    "train_val_overlap_share": 0.33, "val_samples_hashed": 400, "train_samples_hashed": 1230, "batch_size": 32,
    "batch_duplicate_samples_share": 0.02, "inputs_identifying_features": 20,
}  # fmt: skip


def fires() -> dict[str, Run]:
    return {
        **several("overlap"),
        "validation is the training set": with_facts(
            "healthy", train_val_overlap_share=0.0, validation_is_training_data=True
        ),
        "the training set is evaluated as well": with_facts(
            "healthy", train_val_overlap_share=800 / 1200, val_samples_hashed=1200
        ),
        "pictures of training samples between epochs, and nothing logged of them": without(
            with_facts("healthy", train_val_overlap_share=0.9, val_samples_hashed=100), "val/"
        ),
        "rare samples that were copied before the split": with_facts("healthy", **OVERSAMPLED),
        "files that share rows": surveyed(
            train_val_overlap_share=0.2,
            val_samples_hashed=100,
            train_samples_hashed=1000,
            samples_duplicate_chance=0.0,
        ),
    }


def without(run: Run, prefix: str) -> Run:
    """The run without the signals whose names begin so."""
    return msgspec.structs.replace(
        run, series={n: s for n, s in run.series.items() if not n.startswith(prefix)}
    )


def stays_quiet() -> dict[str, Run]:
    return {
        **several("healthy", "healthy_values", "copies"),
        "a training accuracy, and no validation": without(
            with_facts("healthy", train_val_overlap_share=0.0, validation_is_training_data=True), "val/"
        ),
        "two copies of four hundred": with_facts("healthy", train_val_overlap_share=2 / 400),
        "files that share none": surveyed(
            train_val_overlap_share=0.0, val_samples_hashed=100, train_samples_hashed=900
        ),
    }
