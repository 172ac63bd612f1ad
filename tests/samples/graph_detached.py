"""Samples of graph-detached."""

from __future__ import annotations

from tests.captured import several
from traindx.vocabulary.run import Run


def fires() -> dict[str, Run]:
    return several("detached", "rounded")


def stays_quiet() -> dict[str, Run]:
    return several("healthy", "healthy_frozen_base", "dead_bias", "bias_only")
