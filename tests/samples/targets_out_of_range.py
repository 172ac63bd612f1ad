"""Samples of targets-out-of-range."""

from __future__ import annotations

from tests.captured import several, with_facts
from traindx.vocabulary.run import Run


def fires() -> dict[str, Run]:
    return {
        "as many classes as outputs, counted from 1": with_facts("healthy", label_min=1, label_max=10),
        "every label masked": with_facts(
            "healthy", label_min=-100, label_max=-100, label_negative_share=1.0
        ),
        "a split that leaves no training samples": with_facts("healthy", loss_target_shape="0"),
        "percent for a binary cross-entropy": with_facts(
            "healthy_values",
            loss_name="binary_cross_entropy_with_logits",
            targets_min=0.0,
            targets_max=100.0,
        ),
    }


def stays_quiet() -> dict[str, Run]:
    return {
        **several("healthy", "healthy_values", "rare_class"),
        "words of a sentence, with classes in the middle of the outputs": with_facts(
            "healthy", label_min=0, label_max=28, outputs_width=5, classes=29
        ),
        "ten samples of ten classes": with_facts("healthy", loss_target_shape="10x10"),
        "half of the labels masked": with_facts("healthy", label_min=-100, label_negative_share=0.5),
        "soft targets": with_facts(
            "healthy_values", loss_name="binary_cross_entropy", targets_min=0.02, targets_max=0.98
        ),
    }
