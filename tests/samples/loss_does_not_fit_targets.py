"""Samples of loss-does-not-fit-targets."""

from __future__ import annotations

from tests.captured import several, with_facts
from traindx.vocabulary.run import Run


def fires() -> dict[str, Run]:
    return {
        **several("broadcast"),
        "class numbers": with_facts("class_numbers", label_dtype="int64", classes_seen=10),
        "a cross-entropy over one output": with_facts("healthy", outputs_width=1, loss_input_shape="32x1"),
        "zeros and ones": with_facts("healthy_values", targets_binary=True, outputs_width=10),
    }


def stays_quiet() -> dict[str, Run]:
    return {
        **several("healthy", "healthy_values", "rare_class"),
        "several heads, the last of one output": with_facts(
            "healthy", outputs_width=1, loss_input_shape="40x10"
        ),
        "the last batch is smaller": with_facts(
            "healthy_values", loss_input_shape="50x1", loss_target_shape="50x1"
        ),
    }
