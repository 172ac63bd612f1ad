"""Samples of probabilities-fed-to-cross-entropy."""

from __future__ import annotations

from tests.captured import several, with_facts
from traindx.vocabulary.run import Run


def fires() -> dict[str, Run]:
    return {
        **several("double_softmax"),
        "a sigmoid before the logits of the binary one": with_facts(
            "healthy_values",
            loss_name="binary_cross_entropy_with_logits",
            loss_input_looks_like_probabilities=True,
            outputs_min=0.01,
            outputs_max=0.97,
        ),
    }


def stays_quiet() -> dict[str, Run]:
    return {
        **several("healthy", "relu_scores", "sigmoid_values"),
        "scores of a dead net, between 0 and 1 by chance": with_facts(
            "healthy_values",
            loss_name="binary_cross_entropy_with_logits",
            loss_input_looks_like_probabilities=True,
            outputs_width=1,
            outputs_min=0.03,
            outputs_max=0.49,
        ),
        "log-probabilities": with_facts("healthy", loss_name="nll_loss", loss_input="log-probabilities"),
    }
