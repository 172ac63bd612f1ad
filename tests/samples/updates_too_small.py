"""Samples of updates-too-small."""

from __future__ import annotations

from tests.captured import several
from traindx.vocabulary.run import Run


def fires() -> dict[str, Run]:
    return several("rate_tiny", "deep_sigmoid", "deep_tanh")


def stays_quiet() -> dict[str, Run]:
    return several("healthy", "healthy_adam", "healthy_values", "weights_zero", "decay_1")
