"""Samples of weights-start-badly-scaled."""

from __future__ import annotations

from tests.captured import several, with_facts
from traindx.vocabulary.run import Run


def fires() -> dict[str, Run]:
    return {
        **several("weights_large", "weights_tiny", "weights_zero", "deep_tanh"),
        "constant weights": with_facts(
            "rate_tiny", weights_identical_units=1.0, weights_identical_units_later=1.0
        ),
        "weights of a thousandth": with_facts(
            "rate_tiny", initial_gain_min=0.004, initial_gain_min_name="stem.0.weight"
        ),
        "weights of ten times": with_facts(
            "rate_tiny", initial_gain_max=8.0, initial_gain_max_name="stem.0.weight"
        ),
    }


def stays_quiet() -> dict[str, Run]:
    return {
        **several("healthy", "healthy_deep", "healthy_norm", "healthy_tanh", "deep_relu", "raw_inputs"),
        "the small weights of a transformer": with_facts(
            "healthy", initial_gain_min=0.1, initial_gain_max=1.0
        ),
        "an orthogonal start for tanh": with_facts("healthy", initial_gain_min=1.67, initial_gain_max=1.67),
        "a branch that starts at zero": with_facts(
            "healthy", weights_identical_units=0.5, weights_identical_units_later=0.0
        ),
    }
