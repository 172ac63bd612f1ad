"""Samples of parameters-frozen."""

from __future__ import annotations

from tests.captured import several, with_facts
from traindx.vocabulary.run import Run


def fires() -> dict[str, Run]:
    never_trained = {"parameters_frozen": 9000, "frozen_weights_drawn": 1.0}
    return {
        **several("frozen_trunk", "healthy_frozen_base"),
        "random draws": with_facts("healthy", **never_trained),
    }


def stays_quiet() -> dict[str, Run]:
    return {
        **several("healthy", "detached", "bias_only"),
        "a table of positions": with_facts("healthy", parameters_frozen=20),
    }
