"""Samples of activations-saturate."""

from __future__ import annotations

from tests.captured import several
from traindx.vocabulary.run import Run


def fires() -> dict[str, Run]:
    return several("saturated")


def stays_quiet() -> dict[str, Run]:
    return several("healthy_tanh", "deep_sigmoid", "deep_tanh")
