"""Samples of modes-disagree."""

from __future__ import annotations

from tests.captured import with_facts
from traindx.vocabulary.run import Run


def fires() -> dict[str, Run]:
    return {
        "statistics that never moved": with_facts(
            "healthy", modes_loss_train=0.1, modes_loss_eval=2.1, modes_loss_first=2.3
        ),
    }


def stays_quiet() -> dict[str, Run]:
    return {
        "similar": with_facts("healthy", modes_loss_train=0.1, modes_loss_eval=0.11, modes_loss_first=2.3),
        "dropout makes training worse": with_facts(
            "healthy_dropout", modes_loss_train=0.6, modes_loss_eval=0.3, modes_loss_first=2.3
        ),
        "statistics a few steps late": with_facts(
            "healthy_norm", modes_loss_train=0.5, modes_loss_eval=0.9, modes_loss_first=2.3
        ),
    }
