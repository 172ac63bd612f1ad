"""Samples of loss-not-scaled-for-accumulation."""

from __future__ import annotations

from tests.captured import with_facts
from traindx.vocabulary.run import Run


def fires() -> dict[str, Run]:
    return {
        "eight batches summed": with_facts("undivided", accumulation=8, accumulation_loss_scaled=False),
        "said by the user": with_facts("healthy", accumulation=4, accumulation_loss_scaled=False),
    }


def stays_quiet() -> dict[str, Run]:
    return {
        "divided": with_facts("healthy_accumulation", accumulation=4, accumulation_loss_scaled=True),
        "one batch a step": with_facts("healthy", accumulation=1, accumulation_loss_scaled=False),
    }
