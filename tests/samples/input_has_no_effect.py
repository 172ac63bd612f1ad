"""Samples of input-has-no-effect."""

from __future__ import annotations

from tests.captured import several, with_facts
from traindx.vocabulary.run import Run


def fires() -> dict[str, Run]:
    return {
        **several("weights_zero", "deep_sigmoid"),
        "blank inputs do as well": with_facts(
            "healthy", one_batch_start=2.3, one_batch_end=2.15, blank_batch_end=2.15, one_batch_steps=300
        ),
        "not learned, and the same at every step": with_facts(
            "rate_tiny",
            one_batch_start=2.3,
            one_batch_end=2.29,
            blank_batch_end=2.29,
            blank_batch_difference=0.0,
        ),
    }


def stays_quiet() -> dict[str, Run]:
    return {
        **several("healthy", "healthy_frozen_base", "rate_10", "decay_1"),
        "blank inputs do worse": with_facts(
            "healthy", one_batch_start=2.3, one_batch_end=0.01, blank_batch_end=2.15
        ),
    }
