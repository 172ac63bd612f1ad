"""Samples of weights-grow-unbounded."""

from __future__ import annotations

from tests.captured import several
from traindx.vocabulary.run import Run


def fires() -> dict[str, Run]:
    return several("rate_10", "never_cleared", "raw_inputs")


def stays_quiet() -> dict[str, Run]:
    return several("healthy", "healthy_adam", "healthy_values", "never_cleared_slow", "decay_1")
