"""Samples of training-in-eval-mode."""

from __future__ import annotations

from tests.captured import several, with_facts
from traindx.vocabulary.run import Run


def fires() -> dict[str, Run]:
    return {
        **several("stays_eval"),
        "batch norm kept still": with_facts("healthy_norm", steps_in_eval_mode_share=1.0),
    }


def stays_quiet() -> dict[str, Run]:
    return {
        **several("healthy", "healthy_dropout", "evaluates_in_train"),
        "nothing that differs between the modes": with_facts("healthy", steps_in_eval_mode_share=1.0),
    }
