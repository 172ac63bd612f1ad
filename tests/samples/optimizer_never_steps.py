"""Samples of optimizer-never-steps."""

from __future__ import annotations

from tests.captured import several
from traindx.vocabulary.run import Run


def fires() -> dict[str, Run]:
    return several("no_step", "zeroed_early")


def stays_quiet() -> dict[str, Run]:
    return several("healthy", "rate_tiny", "strangers", "healthy_accumulation")
