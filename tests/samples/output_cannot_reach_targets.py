"""Samples of output-cannot-reach-targets."""

from __future__ import annotations

from tests.captured import several, told
from traindx.vocabulary.run import Run


def fires() -> dict[str, Run]:
    return {
        **several("relu_values", "sigmoid_values", "relu_scores"),
        "a binary cross-entropy of a ReLU": told(
            "relu_scores",
            loss_name="binary_cross_entropy",
            loss="binary_cross_entropy",
            outputs_last_activation="relu",
        ),
        "a function that the list of modules does not know": told(
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
        "a linear layer whose outputs lie between 0 and 1": told(
            "sigmoid_values", outputs_last_activation="none"
        ),
        "probabilities that touch 0, from nobody knows what": told(
            "relu_scores",
            loss_name="binary_cross_entropy",
            loss="binary_cross_entropy",
            outputs_max=0.99,
            outputs_last_activation="none",
            modules="",
        ),
        "zeros alone, from nobody knows what": told(
            "relu_scores", outputs_max=0.0, outputs_last_activation="", modules=""
        ),
        "a sigmoid on targets of 0 to 1": told("sigmoid_values", targets_min=0.0, targets_max=1.0),
    }
