"""Samples of activations-collapse."""

from __future__ import annotations

from tests.captured import several
from traindx.vocabulary.run import Run


def fires() -> dict[str, Run]:
    return several("dead_bias", "weights_zero", "deep_sigmoid")


def stays_quiet() -> dict[str, Run]:
    return several("healthy", "healthy_tanh", "healthy_deep", "healthy_frozen_base", "rate_tiny")
