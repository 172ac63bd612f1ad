"""Samples of one-batch-not-fitted."""

from __future__ import annotations

from tests.captured import with_facts
from traindx.vocabulary.run import Run


def fires() -> dict[str, Run]:
    return {
        "a floor": with_facts(
            "healthy", one_batch_start=2.3, one_batch_end=1.46, one_batch_steps=300, one_batch_pace=0.001
        ),
        "flat": with_facts(
            "healthy", one_batch_start=2.3, one_batch_end=2.29, one_batch_steps=300, one_batch_pace=0.002
        ),
        "it explodes": with_facts(
            "healthy",
            one_batch_start=2.3,
            one_batch_end=float("inf"),
            one_batch_steps=300,
            one_batch_pace=0.0,
        ),
        "it grows, soon": with_facts(
            "healthy", one_batch_start=2.3, one_batch_end=88.0, one_batch_steps=20, one_batch_pace=0.0
        ),
        "flat, with a floor that is not known": with_facts(
            "healthy",
            one_batch_start=2.3,
            one_batch_end=2.29,
            one_batch_steps=300,
            one_batch_pace=0.0,
            one_batch_floor_is_zero=False,
        ),
    }


def stays_quiet() -> dict[str, Run]:
    return {
        "learned by heart": with_facts(
            "healthy", one_batch_start=2.3, one_batch_end=0.01, one_batch_steps=300, one_batch_pace=0.6
        ),
        "slow, but on its way": with_facts(
            "healthy", one_batch_start=2.3, one_batch_end=1.5, one_batch_steps=300, one_batch_pace=0.2
        ),
        "the floor of smoothed labels": with_facts(
            "healthy",
            one_batch_start=2.3,
            one_batch_end=1.3,
            one_batch_steps=300,
            one_batch_pace=0.0,
            one_batch_floor_is_zero=False,
        ),
    }
