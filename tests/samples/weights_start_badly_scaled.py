"""Samples of weights-start-badly-scaled."""

from __future__ import annotations

from tests.captured import several
from traindx.vocabulary.run import Run


def fires() -> dict[str, Run]:
    return several("weights_large", "weights_tiny", "weights_zero", "deep_tanh")


def stays_quiet() -> dict[str, Run]:
    return several("healthy", "healthy_deep", "healthy_norm", "healthy_tanh", "deep_relu", "raw_inputs")
