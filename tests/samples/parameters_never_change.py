"""Samples of parameters-never-change."""

from __future__ import annotations

from tests.captured import several
from traindx.vocabulary.run import Run


def fires() -> dict[str, Run]:
    return several("bias_only")


def stays_quiet() -> dict[str, Run]:
    return several("healthy", "healthy_frozen_base", "rate_tiny", "detached")
