"""Samples of parameters-not-registered."""

from __future__ import annotations

from tests.captured import with_facts
from traindx.vocabulary.run import Run


def fires() -> dict[str, Run]:
    return {
        "a list of layers": with_facts(
            "healthy", parameters_unregistered=4160, parameters_unregistered_names="layers[0], layers[1]"
        ),
    }


def stays_quiet() -> dict[str, Run]:
    return {
        "all registered": with_facts("healthy", parameters_unregistered=0),
    }
