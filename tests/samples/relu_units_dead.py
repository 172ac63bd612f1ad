"""Samples of relu-units-dead."""

from __future__ import annotations

from tests.captured import several
from traindx.vocabulary.run import Run


def fires() -> dict[str, Run]:
    return several("dead_bias", "deep_relu", "weights_zero")


def stays_quiet() -> dict[str, Run]:
    return several("healthy", "healthy_norm", "healthy_deep", "healthy_dropout", "healthy_adam", "rate_tiny")
