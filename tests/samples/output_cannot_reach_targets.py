"""Samples of output-cannot-reach-targets."""

from __future__ import annotations

from tests.captured import several, told
from traindx.vocabulary.run import Run


def fires() -> dict[str, Run]:
    return several("relu_values", "sigmoid_values", "relu_scores")


def stays_quiet() -> dict[str, Run]:
    return {
        **several("healthy", "healthy_values", "healthy_adam"),
        "a sigmoid on targets of 0 to 1": told("sigmoid_values", targets_min=0.0, targets_max=1.0),
    }
