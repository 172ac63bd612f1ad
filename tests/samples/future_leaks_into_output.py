"""Samples of future-leaks-into-output."""

from __future__ import annotations

from tests.captured import with_facts
from traindx.vocabulary.run import Run


def fires() -> dict[str, Run]:
    return {
        "attention without a mask": with_facts("healthy", future_effect=0.8),
        "a mask that lets one token too many through": with_facts("healthy", future_effect=0.05),
    }


def stays_quiet() -> dict[str, Run]:
    return {
        "a causal model": with_facts("healthy", future_effect=0.0),
        "rounding": with_facts("healthy", future_effect=2e-5),
    }
