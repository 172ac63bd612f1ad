"""Samples of deep-without-normalization."""

from __future__ import annotations

from tests.captured import several
from traindx.vocabulary.run import Run


def fires() -> dict[str, Run]:
    return several("deep_relu", "deep_sigmoid", "deep_tanh")


def stays_quiet() -> dict[str, Run]:
    return several("healthy_deep", "healthy_norm", "weights_tiny", "rate_tiny")
