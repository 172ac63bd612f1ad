"""Samples of gradients-accumulate-across-steps."""

from __future__ import annotations

from tests.captured import several, with_facts
from traindx.vocabulary.run import Run


def fires() -> dict[str, Run]:
    return several("never_cleared", "never_cleared_slow")


def stays_quiet() -> dict[str, Run]:
    return {
        **several("healthy", "healthy_accumulation", "undivided", "rate_10"),
        "once, by accident": with_facts("healthy", zero_grad_missing_steps=1),
    }
