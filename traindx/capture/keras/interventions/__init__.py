"""Interventions in trainings with Keras: the same names and values as in PyTorch's (`torch/interventions`), declared
alike. What only PyTorch's know is refused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

from traindx.capture.experiment import catalogue as shared
from traindx.capture.experiment.kinds import Given, Kind


@cache
def catalogue() -> tuple[Kind, ...]:
    """All of them, in the order in which they are applied."""
    return shared.walked(__name__, __path__)


def parse(specs: Sequence[str]) -> tuple[Given, ...]:
    """As that of PyTorch's. Raises ConfigError."""
    return shared.parse(specs, catalogue(), unknown)


def unknown(name: str, kinds: Mapping[str, Kind]) -> str:
    return f"trainings in Keras cannot be changed so from outside yet; known are {', '.join(sorted(kinds))}"
