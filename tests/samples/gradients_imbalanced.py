"""Samples of gradients-imbalanced."""

from __future__ import annotations

from tests.captured import several
from traindx.vocabulary.run import Run


def fires() -> dict[str, Run]:
    return several("deep_sigmoid", "deep_tanh", "weights_tiny")


def stays_quiet() -> dict[str, Run]:
    return several("healthy_deep", "healthy_norm", "healthy_tanh")
