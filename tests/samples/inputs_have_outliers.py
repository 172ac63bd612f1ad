"""Samples of inputs-have-outliers."""

from __future__ import annotations

from tests.captured import several, with_facts
from tests.make import surveyed
from traindx.vocabulary.run import Run


def fires() -> dict[str, Run]:
    return {
        **several("outliers"),
        "the same share of values up to 40": with_facts(
            "healthy", inputs_outlier_share=0.004, inputs_min=0.0, inputs_max=40.0
        ),
        "one price of a million": with_facts("healthy", inputs_max=1e6),
        "a table with a missing decimal point": surveyed(
            inputs_outliers=1,
            inputs_outlier_share=0.0001,
            inputs_outlier_reach=900.0,
            inputs_outlier_where="price",
        ),
    }


def stays_quiet() -> dict[str, Run]:
    return {
        **several("healthy", "raw_inputs", "unscaled_held_out"),
        "one-hot letters, of which some are rare": with_facts(
            "healthy", inputs_outlier_share=0.004, inputs_min=0.0, inputs_max=1.0
        ),
        "heavy tails": with_facts("healthy", inputs_outlier_share=5e-4, inputs_max=40.0),
        "a table whose features differ in scale": surveyed(
            inputs_outlier_share=0.0, inputs_outlier_reach=0.0, inputs_std_mean=34.9, inputs_max=4254.0
        ),
        "a table with one value just outside": surveyed(
            inputs_outlier_share=0.0001, inputs_outlier_reach=12.0
        ),
    }
