"""Samples of batches-sorted-by-class."""

from __future__ import annotations

from tests.captured import several, with_facts
from traindx.vocabulary.run import Run


def fires() -> dict[str, Run]:
    return several("sorted")


def stays_quiet() -> dict[str, Run]:
    return {
        **several("healthy", "rare_class", "repeated"),
        "a sampler that stratifies": with_facts("healthy", batch_class_purity=-0.1),
    }
