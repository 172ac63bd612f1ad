"""Samples of scores-fed-to-nll-loss."""

from __future__ import annotations

from tests.captured import healthy, with_facts
from traindx.vocabulary.run import Run

NLL = {
    "loss_name": "nll_loss",
    "loss": "nll_loss",
    "loss_input": "scores",
    "loss_input_shape": "32x10",
    "outputs_width": 10,
}


def fires() -> dict[str, Run]:
    return {
        "raw scores": with_facts("healthy", **NLL, outputs_max=7.5),
        "normalized over the batch": with_facts("healthy", **NLL, outputs_max=-0.2),
    }


def stays_quiet() -> dict[str, Run]:
    return {
        **healthy(),
        "log-probabilities": with_facts(
            "healthy", **{**NLL, "loss_input": "log-probabilities"}, outputs_max=-1e-7
        ),
        "scores, which cross-entropy expects": with_facts(
            "healthy", **{**NLL, "loss_name": "cross_entropy", "loss": ""}
        ),
        "one number for each sample": with_facts(
            "healthy", **{**NLL, "loss_input_shape": "32"}, outputs_max=2.0
        ),
        "another likelihood": with_facts(
            "healthy", **{**NLL, "loss_name": "gaussian_nll_loss"}, outputs_max=2.0
        ),
    }
