"""Samples of weights-collapse."""

from __future__ import annotations

from tests.captured import several
from traindx.vocabulary.run import Run


def fires() -> dict[str, Run]:
    return several("decay_1")


def stays_quiet() -> dict[str, Run]:
    return several("healthy", "healthy_norm", "healthy_adam", "rate_10", "rate_tiny")
