"""Samples of validation-distribution-differs."""

from __future__ import annotations

from tests.captured import several, told
from traindx.vocabulary.run import Run


def fires() -> dict[str, Run]:
    return {
        **several("unscaled_held_out"),
        "another offset": told("healthy", val_inputs_shift=2.0),
    }


def stays_quiet() -> dict[str, Run]:
    return {
        **several("healthy", "healthy_values", "raw_inputs"),
        "a small held-out set": told("healthy", val_inputs_shift=0.3, val_inputs_spread_ratio=1.2),
    }
