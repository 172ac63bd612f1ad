"""Samples of run-not-reproducible."""

from __future__ import annotations

from tests.captured import told
from traindx.vocabulary.run import Run


def fires() -> dict[str, Run]:
    return {
        "another order of the data": told(
            "healthy",
            seeds_set="torch",
            repeat_difference=0.2,
            repeat_first_difference=1,
            repeat_first_loss_difference=0.1,
            repeat_steps=100,
        ),
        "later": told(
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
        "the same to the last bit": told(
            "healthy",
            seeds_set="torch",
            repeat_difference=0.0,
            repeat_first_loss_difference=0.0,
            repeat_steps=100,
        ),
        "rounding": told(
            "healthy",
            seeds_set="torch",
            repeat_difference=2e-05,
            repeat_first_difference=30,
            repeat_first_loss_difference=0.0,
            repeat_steps=100,
        ),
        "no seed was set": told(
            "healthy",
            seeds_set="none",
            repeat_difference=0.3,
            repeat_first_difference=1,
            repeat_first_loss_difference=0.2,
            repeat_steps=100,
        ),
    }
