"""Samples of targets-not-normalized."""

from __future__ import annotations

from tests.captured import several, with_facts
from tests.make import surveyed
from traindx.vocabulary.run import Run


def fires() -> dict[str, Run]:
    return {
        **several("raw_targets", "sigmoid_values"),
        "an offset of a thousand": with_facts("healthy_values", targets_mean_abs=1000.0),
        "a file in raw units": surveyed(targets_std_max=77.0, targets_mean_abs=152.0, data_is_raw=True),
    }


def stays_quiet() -> dict[str, Run]:
    return {
        **several("healthy_values", "relu_values", "broadcast"),
        "a mean of three": with_facts("healthy_values", targets_mean_abs=3.0),
        "a file of unit size": surveyed(targets_std_max=1.1, targets_mean_abs=0.3, data_is_raw=True),
    }
