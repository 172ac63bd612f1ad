"""Quantized inputs of layers, and the share of their values that the quantizer's range has clipped.

Activations are rounded and clipped to a range that a scale and a zero point define. Values beyond it end up
on the first or the last level, whoever wrote the quantizer. So the share of values on these two is measured,
for inputs that were computed (the data themselves are not) and are on an even grid."""

from __future__ import annotations

from typing import Any

import torch

from traindx.capture.arrays.levels import TOLERANCE, on_grid, steps
from traindx.capture.torch.measure.tensors.views import local

READ = 1 << 12  # values of an input
LEAST, MOST = 5, 512  # levels: with fewer, many values are meant to lie on the ends
FEWEST = (
    256  # values from which levels can be recognized: on a few hundred levels, some of so many are equal
)
DISTINCT = 0.9  # share of distinct values among them, above which they are on no levels


class QuantizedInputs:
    """The share of each input's values at an end of its range, by layer."""

    def __init__(self) -> None:
        self._readings: dict[str, torch.Tensor] = {}
        self._judged: dict[str, int] = {}
        self._found: dict[str, bool] = {}

    @property
    def found(self) -> bool:
        """Whether any input is quantized."""
        return any(self._found.values())

    def read(self, name: str, given: Any) -> None:
        """An input of the layer `name`, in training."""
        if not isinstance(given, torch.Tensor) or not given.requires_grad or name in self._readings:
            return
        flat = local(given).reshape(-1)
        if len(flat) < FEWEST or not flat.is_floating_point():
            return
        judged = self._judged[name] = self._judged.get(name, 0) + 1
        if judged & (judged - 1) and not self._found.get(name):
            return
        values = flat[:: max(1, len(flat) // READ)].float()
        if not judged & (judged - 1):
            self._found[name] = on_levels(values)
        if self._found[name]:
            self._readings[name] = at_the_ends(values)

    def take(self) -> dict[str, torch.Tensor]:
        """The readings since the last call, by layer."""
        found, self._readings = self._readings, {}
        return found


def on_levels(values: torch.Tensor) -> bool:
    """Whether values are on an even grid of a few hundred levels at most."""
    few = values[:: max(1, len(values) // FEWEST)]
    few = few[few != 0]
    if len(few) < LEAST or len(few.unique()) > DISTINCT * len(few):
        return False
    places = steps(values.cpu().numpy())
    return LEAST <= len(places) <= MOST and on_grid(places) > 0


def at_the_ends(values: torch.Tensor) -> torch.Tensor:
    """The share on the highest or the lowest level. Zeros do not count as clipped: rectifiers make them."""
    share = torch.zeros((), device=values.device)
    for end in (values.amax(), values.amin()):
        there = (values - end).abs() <= TOLERANCE * values.abs().amax()
        share = share + torch.where(end != 0, there.float().mean(), 0.0)
    return share
