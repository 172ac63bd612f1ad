"""Samples of labels-make-no-difference."""

from __future__ import annotations

from tests.captured import with_facts
from traindx.vocabulary.run import Run


def fires() -> dict[str, Run]:
    return {
        "shuffled apart": with_facts(
            "healthy",
            permuted_end=2.1,
            real_end=2.1,
            real_advantage=0.003,
            real_advantage_error=0.01,
            real_epochs=6,
            one_batch_start=2.3,
            one_batch_end=0.01,
        ),
    }


def stays_quiet() -> dict[str, Run]:
    return {
        "learned": with_facts(
            "healthy",
            permuted_end=2.25,
            real_end=0.2,
            real_advantage=2.0,
            real_advantage_error=0.01,
            real_epochs=6,
            one_batch_start=2.3,
            one_batch_end=0.01,
        ),
        "learned first, then both by heart": with_facts(
            "healthy",
            permuted_end=0.01,
            real_end=0.01,
            real_advantage=0.8,
            real_advantage_error=0.02,
            real_epochs=60,
            one_batch_start=2.3,
            one_batch_end=0.01,
        ),
    }
