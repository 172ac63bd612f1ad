"""Samples of inputs-not-finite."""

from __future__ import annotations

from tests.captured import several, with_facts
from traindx.vocabulary.run import Run


def fires() -> dict[str, Run]:
    return {
        **several("nan_input"),
        "one value of many, masked": with_facts("healthy", inputs_nonfinite=1),
        "in the batch that broke the loss": with_facts(
            "healthy", inputs_nonfinite=0, nonfinite_first_direction="targets"
        ),
    }


def stays_quiet() -> dict[str, Run]:
    return {
        **several("healthy", "outliers", "raw_inputs"),
        "broken weights": with_facts("healthy", inputs_nonfinite=0, nonfinite_first_direction="weights"),
    }
