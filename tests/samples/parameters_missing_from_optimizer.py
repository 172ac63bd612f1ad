"""Samples of parameters-missing-from-optimizer."""

from __future__ import annotations

from tests.captured import several, with_facts
from traindx.vocabulary.run import Run


def fires() -> dict[str, Run]:
    return {
        **several("bias_only"),
        "the optimizer of another model": with_facts(
            "healthy", parameters_without_gradient=with_facts("healthy").setup.facts["parameters_trainable"]
        ),
    }


def stays_quiet() -> dict[str, Run]:
    return several("healthy", "healthy_frozen_base", "detached", "frozen_trunk", "zeroed_early")
