"""Samples of output-cannot-reach-targets."""

from __future__ import annotations

from tests.captured import several, with_facts
from traindx.vocabulary.run import Run


def fires() -> dict[str, Run]:
    return {
        **several("relu_values", "sigmoid_values", "relu_scores"),
        "a binary cross-entropy of a ReLU": with_facts(
            "relu_scores",
            loss_name="binary_cross_entropy",
            loss="binary_cross_entropy",
            outputs_last_activation="relu",
        ),
        "a function that the list of modules does not know": with_facts(
            "sigmoid_values",
            modules="0 Linear",
            outputs_min=0.2,
            outputs_max=0.8,
            outputs_last_activation="sigmoid",
        ),
    }


def stays_quiet() -> dict[str, Run]:
    return {
        **several("healthy", "healthy_values", "healthy_adam"),
        "a linear layer whose outputs lie between 0 and 1": with_facts(
            "sigmoid_values", outputs_last_activation="none"
        ),
        "probabilities that touch 0, of unknown origin": with_facts(
            "relu_scores",
            loss_name="binary_cross_entropy",
            loss="binary_cross_entropy",
            outputs_max=0.99,
            outputs_last_activation="none",
            modules="",
        ),
        "zeros alone, of unknown origin": with_facts(
            "relu_scores", outputs_max=0.0, outputs_last_activation="", modules=""
        ),
        "a sigmoid on targets of 0 to 1": with_facts("sigmoid_values", targets_min=0.0, targets_max=1.0),
    }
