"""Observers of sampled forward passes, one file for each family of signals of the same name
(`signals/<kind>.py`).

How to add one, such as the entropy of attention:

    signals/attention_entropy.py                FAMILY = Family("attention_entropy", ..., panels=panels)
    torch/measure/by_pass/attention_entropy.py  an `Observer(failed)` with the three methods of `PassObserver`
    vocabulary/signals.py                       its line: direction, unit, meaning

The package is walked; nothing registers itself. A family that costs too much is left out as `signals/` says.
"""

import importlib
import pkgutil
from collections.abc import Callable, Sequence
from typing import Protocol

import torch
from torch import nn


class PassObserver(Protocol):
    """Reads something of the modules that a sampled forward pass calls."""

    def arm(self, models: Sequence[tuple[str, nn.Module]]) -> None:
        """A sampled forward pass is about to begin. Each model comes with the prefix of its modules'
        names."""

    def disarm(self) -> None:
        """The pass is over: take all hooks and wrappers away."""

    def take(self) -> dict[str, torch.Tensor]:
        """One reading for each module since the last call, on the device that it was computed on."""


def observers(failed: Callable[[str, Exception], None]) -> dict[str, PassObserver]:
    """A new observer of each family, by its kind. An observer reports through `failed` that it gives up."""
    kinds = [info.name for info in pkgutil.iter_modules(__path__)]
    return {kind: importlib.import_module(f"{__name__}.{kind}").Observer(failed) for kind in kinds}
