"""Samples of inputs-not-normalized."""

from __future__ import annotations

from tests.captured import several, told
from traindx.vocabulary.run import Run


def fires() -> dict[str, Run]:
    return {
        **several("raw_inputs", "tiny_inputs", "saturated"),
        "a constant offset": told("rate_tiny", inputs_mean_abs=8.0),
    }


def stays_quiet() -> dict[str, Run]:
    return {
        **several("healthy", "healthy_values", "unscaled_held_out"),
        "a mean of two": told("rate_tiny", inputs_mean_abs=2.0),
    }
