"""Samples of updates-too-large."""

from __future__ import annotations

from tests.captured import several
from traindx.vocabulary.run import Run

EXCEPTIONS = {
    "halved: weights large": "the one measured step whose update was large is dropped",
}


def fires() -> dict[str, Run]:
    return several("rate_10", "weights_large", "raw_inputs")


def stays_quiet() -> dict[str, Run]:
    return several(
        "healthy", "healthy_adam", "healthy_deep", "healthy_values", "never_cleared_slow", "rate_tiny"
    )
