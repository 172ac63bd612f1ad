"""Samples of bias-before-normalization."""

from __future__ import annotations

from tests.captured import with_facts
from traindx.vocabulary.run import Run


def fires() -> dict[str, Run]:
    return {
        "a convolution with a bias": with_facts(
            "healthy_norm", bias_before_normalization=2, bias_before_normalization_names="0, 3"
        ),
    }


def stays_quiet() -> dict[str, Run]:
    return {
        "without biases": with_facts("healthy_norm", bias_before_normalization=0),
    }
