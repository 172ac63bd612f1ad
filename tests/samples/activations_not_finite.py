"""Samples of activations-not-finite."""

from __future__ import annotations

from tests.captured import several
from traindx.vocabulary.run import Run


def fires() -> dict[str, Run]:
    return several("nan_input", "raw_targets")


def stays_quiet() -> dict[str, Run]:
    return several("healthy", "healthy_deep", "decay_1", "never_cleared")
