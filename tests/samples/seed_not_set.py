"""Samples of seed-not-set."""

from __future__ import annotations

from tests.captured import with_facts
from traindx.vocabulary.run import Run


def fires() -> dict[str, Run]:
    return {
        "nothing is seeded": with_facts("healthy", seeds_set="none"),
        "two starts differ": with_facts("healthy", seeds_set="none", repeat_difference=0.3),
    }


def stays_quiet() -> dict[str, Run]:
    return {
        "torch is seeded": with_facts("healthy", seeds_set="torch"),
        "a seed in the log": with_facts("healthy", seeds_set="none", seed=7),
    }
