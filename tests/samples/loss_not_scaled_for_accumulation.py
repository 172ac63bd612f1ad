"""Samples of loss-not-scaled-for-accumulation."""

from __future__ import annotations

from tests.captured import told
from traindx.vocabulary.run import Run


def fires() -> dict[str, Run]:
    return {
        "eight batches summed": told("undivided", accumulation=8, accumulation_loss_scaled=False),
        "said by the user": told("healthy", accumulation=4, accumulation_loss_scaled=False),
    }


def stays_quiet() -> dict[str, Run]:
    return {
        "divided": told("healthy_accumulation", accumulation=4, accumulation_loss_scaled=True),
        "one batch a step": told("healthy", accumulation=1, accumulation_loss_scaled=False),
    }
