"""Samples of evaluating-in-train-mode."""

from __future__ import annotations

from tests.captured import several, with_facts
from traindx.vocabulary.run import Run


def fires() -> dict[str, Run]:
    return {
        **several("evaluates_in_train"),
        "said by the user": with_facts("healthy_dropout", validation_in_train_mode_share=1.0),
        "dropout that moves the outputs": with_facts(
            "healthy_dropout", validation_in_train_mode_share=1.0, mode_effect=0.3
        ),
    }


def stays_quiet() -> dict[str, Run]:
    return {
        **several("healthy_dropout", "healthy_norm", "stays_eval"),
        "an occasional measurement": with_facts("healthy_norm", validation_in_train_mode_share=0.1),
        "a mode that changes nothing": with_facts(
            "healthy_norm", validation_in_train_mode_share=1.0, mode_effect=0.002
        ),
    }
