"""Inputs of layers that lie on a quantizer's levels, and how many of them the ends of its range have cut off.

Activations are rounded and clipped to a range that a scale and a zero point give. Whatever lay beyond it lies on the
first or the last level now, whoever wrote the quantizer: so the share of the values there is measured, of inputs that
were computed (not of data as they come) and lie on an even grid."""

from __future__ import annotations

from typing import Any

import torch

from traindx.capture.arrays.levels import TOLERANCE, on_grid, steps
from traindx.capture.torch.measure.tensors.views import local

READ = 1 << 12  # values of an input
LEAST, MOST = 5, 512  # levels: with fewer, many values are meant to lie on the ends
FEWEST = 256  # values that can tell; of so many on a few hundred levels, some are alike
ALIKE = 0.9  # of them, where they are on no levels: other values


class Ranges:
    """`readings` by name since they were taken: the share of an input's values on an end of its range."""

    def __init__(self) -> None:
        self.readings: dict[str, torch.Tensor] = {}
        self._looks: dict[str, int] = {}
        self._found: dict[str, bool] = {}

    @property
    def found(self) -> bool:
        """Whether inputs were seen quantized."""
        return any(self._found.values())

    def look(self, name: str, given: Any) -> None:
        """An input of the layer `name`, in training."""
        if not isinstance(given, torch.Tensor) or not given.requires_grad or name in self.readings:
            return
        flat = local(given).reshape(-1)
        if len(flat) < FEWEST or not flat.is_floating_point():
            return
        looks = self._looks[name] = self._looks.get(name, 0) + 1
        if looks & (looks - 1) and not self._found.get(name):
            return
        values = flat[:: max(1, len(flat) // READ)].float()
        if not looks & (looks - 1):
            self._found[name] = on_levels(values)
        if self._found[name]:
            self.readings[name] = at_the_ends(values)

    def take(self) -> dict[str, torch.Tensor]:
        """Names and readings since the last call."""
        found, self.readings = self.readings, {}
        return found


def on_levels(values: torch.Tensor) -> bool:
    """Whether values lie on an even grid of a few hundred levels at most."""
    few = values[:: max(1, len(values) // FEWEST)]
    few = few[few != 0]
    if len(few) < LEAST or len(few.unique()) > ALIKE * len(few):
        return False
    places = steps(values.cpu().numpy())
    return LEAST <= len(places) <= MOST and on_grid(places) > 0


def at_the_ends(values: torch.Tensor) -> torch.Tensor:
    """The share on the highest or the lowest level; zeros are no cut (rectifiers make them)."""
    share = torch.zeros((), device=values.device)
    for end in (values.amax(), values.amin()):
        there = (values - end).abs() <= TOLERANCE * values.abs().amax()
        share = share + torch.where(end != 0, there.float().mean(), 0.0)
    return share
