"""Weights that are exactly zero."""

from __future__ import annotations

from collections.abc import Sequence

import torch


def read(parameters: Sequence[torch.Tensor], elsewhere: bool) -> torch.Tensor:
    """`[P]`: the share of zeros of each parameter."""
    return torch.stack([(p == 0).double().mean() for p in parameters])
