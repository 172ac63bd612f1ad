"""Samples of input-has-no-effect."""

from __future__ import annotations

from tests.captured import several
from traindx.vocabulary.run import Run


def fires() -> dict[str, Run]:
    return several("weights_zero", "deep_sigmoid")


def stays_quiet() -> dict[str, Run]:
    return several("healthy", "healthy_frozen_base", "rate_10", "decay_1")
