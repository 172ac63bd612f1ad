"""Samples of inputs-not-normalized."""

from __future__ import annotations

from tests.captured import several, with_facts
from tests.make import surveyed
from traindx.vocabulary.run import Run


def fires() -> dict[str, Run]:
    return {
        **several("raw_inputs", "tiny_inputs", "saturated"),
        "a constant offset": with_facts("rate_tiny", inputs_mean_abs=8.0),
        "raw units and outliers": with_facts(
            "outliers", batch_size=32, inputs_outlier_share=0.004, inputs_absmax_median=255.0
        ),
        "a file in raw units": surveyed(
            inputs_std_max=314.0, inputs_std_mean=26.1, inputs_mean_abs=69.1, data_is_raw=True
        ),
    }


def stays_quiet() -> dict[str, Run]:
    return {
        **several("healthy", "healthy_values", "unscaled_held_out"),
        "a mean of two": with_facts("rate_tiny", inputs_mean_abs=2.0),
        "unit size and outliers": with_facts(
            "outliers", batch_size=32, inputs_outlier_share=0.004, inputs_absmax_median=2.7
        ),
        "a file of unit size": surveyed(
            inputs_std_max=1.1, inputs_std_mean=1.0, inputs_mean_abs=0.1, data_is_raw=True
        ),
    }
