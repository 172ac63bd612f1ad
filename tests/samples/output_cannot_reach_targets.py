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
        "outputs pressed against -1 by targets below, of unknown origin": unnamed(outputs_min=-0.999),
    }


def unnamed(**facts: float) -> Run:
    """Outputs of an unknown function, for targets below -1."""
    known = {"outputs_min": -0.7, "outputs_max": 0.3, "targets_min": -10.6, "targets_max": -3.7, **facts}
    return with_facts("sigmoid_values", modules="", outputs_last_activation="", **known)


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
        "outputs that come near 1 by chance, for targets below -1": unnamed(outputs_max=0.995),
        "a sigmoid on targets of 0 to 1": with_facts("sigmoid_values", targets_min=0.0, targets_max=1.0),
    }
