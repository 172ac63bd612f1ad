"""Samples of simple-model-does-better."""

from __future__ import annotations

import numpy as np

from tests import make
from traindx.vocabulary.run import Run
from traindx.vocabulary.setup import Setup

DIGITS = {
    "reference_trivial_accuracy": 0.1,
    "reference_linear_accuracy": 0.93,
    "reference_neighbours_accuracy": 0.95,
    "reference_samples_held": 300,
}
HOUSES = {
    "reference_trivial_explained": 0.0,
    "reference_linear_explained": 0.8,
    "reference_neighbours_explained": 0.6,
    "reference_samples_held": 300,
}
TEXT = {"reference_unigram_entropy": 2.4, "reference_bigram_entropy": 1.7}


def reaches(signal: str, level: float, facts: dict[str, float]) -> Run:
    """A run whose own answers end at a level."""
    curve = level + (0.1 - level) * np.exp(-np.arange(60) / 5) + 0.005 * make.rng(1).standard_normal(60)
    setup = Setup().with_facts(facts, "test")
    return make.run({"train/loss": np.linspace(2, 1, 60), signal: curve}, setup=setup)


def fires() -> dict[str, Run]:
    return {
        "no better than one answer for all": reaches("outputs_accuracy", 0.1, DIGITS),
        "half as good": reaches("outputs_accuracy", 0.45, DIGITS),
        "numbers": reaches("outputs_explained", 0.2, HOUSES),
        "text": reaches("outputs_cross_entropy", 2.3, TEXT),
    }


def stays_quiet() -> dict[str, Run]:
    return {
        "better": reaches("outputs_accuracy", 0.98, DIGITS),
        "a little worse": reaches("outputs_accuracy", 0.9, DIGITS),
        "numbers": reaches("outputs_explained", 0.85, HOUSES),
        "text": reaches("outputs_cross_entropy", 1.2, TEXT),
    }
