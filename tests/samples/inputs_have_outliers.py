"""Samples of inputs-have-outliers."""

from __future__ import annotations

from tests.captured import several, told
from traindx.vocabulary.run import Run


def fires() -> dict[str, Run]:
    return {
        **several("outliers"),
        "one price of a million": told("healthy", inputs_max=1e6),
    }


def stays_quiet() -> dict[str, Run]:
    return {
        **several("healthy", "raw_inputs", "unscaled_held_out"),
        "heavy tails": told("healthy", inputs_outlier_share=5e-4, inputs_max=40.0),
    }
