"""Samples of classes-imbalanced."""

from __future__ import annotations

from tests.captured import several, with_facts
from traindx.vocabulary.run import Run


def fires() -> dict[str, Run]:
    return {
        **several("rare_class"),
        "one in fifty": with_facts("healthy", class_counts_max_min_ratio=50.0),
        "one class per text": with_facts(
            "healthy", class_counts_max_min_ratio=50.0, tokens_max=9000, label_max=4, targets_shape=""
        ),
    }


def stays_quiet() -> dict[str, Run]:
    return {
        **several("healthy", "repeated", "rate_10"),
        "three to one": with_facts("healthy", class_counts_max_min_ratio=3.0),
    }
