"""Samples of run-not-reproducible."""

from __future__ import annotations

from tests.captured import with_facts
from traindx.vocabulary.run import Run


def fires() -> dict[str, Run]:
    return {
        "another order of the data": with_facts(
            "healthy",
            seeds_set="torch",
            repeat_difference=0.2,
            repeat_first_difference=1,
            repeat_first_loss_difference=0.1,
            repeat_steps=100,
        ),
        "later": with_facts(
            "healthy",
            seeds_set="none",
            repeat_seeded=True,
            repeat_difference=0.02,
            repeat_first_difference=40,
            repeat_first_loss_difference=0.0,
            repeat_steps=100,
        ),
    }


def stays_quiet() -> dict[str, Run]:
    return {
        "the same to the last bit": with_facts(
            "healthy",
            seeds_set="torch",
            repeat_difference=0.0,
            repeat_first_loss_difference=0.0,
            repeat_steps=100,
        ),
        "rounding": with_facts(
            "healthy",
            seeds_set="torch",
            repeat_difference=2e-05,
            repeat_first_difference=30,
            repeat_first_loss_difference=0.0,
            repeat_steps=100,
        ),
        "no seed was set": with_facts(
            "healthy",
            seeds_set="none",
            repeat_difference=0.3,
            repeat_first_difference=1,
            repeat_first_loss_difference=0.2,
            repeat_steps=100,
        ),
    }
