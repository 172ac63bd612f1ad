"""Samples of targets-not-normalized."""

from __future__ import annotations

from tests.captured import several, told
from traindx.vocabulary.run import Run


def fires() -> dict[str, Run]:
    return {
        **several("raw_targets", "sigmoid_values"),
        "an offset of a thousand": told("healthy_values", targets_mean_abs=1000.0),
    }


def stays_quiet() -> dict[str, Run]:
    return {
        **several("healthy_values", "relu_values", "broadcast"),
        "a mean of three": told("healthy_values", targets_mean_abs=3.0),
    }
