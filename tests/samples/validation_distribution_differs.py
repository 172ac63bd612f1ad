"""Samples of validation-distribution-differs."""

from __future__ import annotations

import msgspec

from tests.captured import several, with_facts
from tests.make import surveyed
from traindx.vocabulary.run import Run


def fires() -> dict[str, Run]:
    return {
        **several("unscaled_held_out"),
        "another offset": with_facts("healthy", val_inputs_shift=2.0),
        "another scale next to outliers": with_facts(
            "healthy", inputs_outlier_share=0.004, inputs_absmax_median=2.7, val_inputs_absmax_median=160.0
        ),
        "one feature of a file": surveyed(
            val_inputs_shift=0.1, val_shift_largest=0.6, val_shifted_features=1, val_shift_where="age"
        ),
        "other classes in a file": surveyed(
            val_inputs_shift=0.1, val_target_shift=0.4, val_target_shift_chance=0.1
        ),
        "a file with outliers, and shifted": surveyed(
            val_inputs_shift=9.0, inputs_outlier_share=0.01, val_shift_largest=0.5, val_shifted_features=1
        ),
    }


def stays_quiet() -> dict[str, Run]:
    return {
        **several("healthy", "healthy_values", "raw_inputs"),
        "outliers on the training side": with_facts(
            "healthy",
            inputs_outlier_share=0.004,
            inputs_absmax_median=2.7,
            val_inputs_absmax_median=2.9,
            val_inputs_spread_ratio=0.05,
        ),
        "a generation, and no validation": only_trained(with_facts("healthy", val_inputs_shift=2.0)),
        "a small held-out set": with_facts("healthy", val_inputs_shift=0.3, val_inputs_spread_ratio=1.2),
        "a random split of a file": surveyed(
            val_inputs_shift=0.15,
            val_inputs_spread_ratio=1.05,
            val_shift_largest=0.0,
            val_target_shift=0.12,
            val_target_shift_chance=0.2,
        ),
        "a file with outliers, the same": surveyed(
            val_inputs_shift=9.0, inputs_outlier_share=0.01, val_shift_largest=0.0
        ),
    }


def only_trained(run: Run) -> Run:
    kept = {name: curve for name, curve in run.series.items() if not name.startswith("val/")}
    return msgspec.structs.replace(run, series=kept)
