"""Samples of batch-repeats."""

from __future__ import annotations

from tests.captured import several, with_facts
from traindx.vocabulary.run import Run


def fires() -> dict[str, Run]:
    return several("repeated")


def stays_quiet() -> dict[str, Run]:
    return {
        **several("healthy", "sorted"),
        "the whole set is one batch": with_facts("repeated", batch_size=800.0),
    }
