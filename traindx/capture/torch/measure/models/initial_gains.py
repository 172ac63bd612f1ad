"""How large the weights of each layer start, against the size that keeps a signal as large as it was.

A matrix that takes in n values keeps their size where its entries have the root mean square 1 / sqrt(n): that quotient
is its gain. He's start has 1.4, Xavier's 1, PyTorch's own 0.6, a small transformer's 0.15 (He et al. 2015; Glorot,
Bengio 2010).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import nn

from traindx.capture.torch.measure.models.tree import WEIGHTED, unwrapped
from traindx.capture.torch.measure.tensors.views import local
from traindx.vocabulary.setup import Fact

MOST_MATRICES, READ = 256, 1 << 16  # that are read; values of each


def gains(models: Sequence[nn.Module]) -> dict[str, Fact]:
    """Facts of the smallest and the largest gain of the layers, and which they are. Weights that start at zero are on
    purpose, and those of transposed convolutions are laid out otherwise: both are passed over."""
    found: list[tuple[float, str]] = []
    for model in models:
        for name, module in unwrapped(model).named_modules():
            if isinstance(module, WEIGHTED) and not isinstance(module, nn.modules.conv._ConvTransposeNd):
                for own, weight in module._parameters.items():
                    if (
                        weight is not None
                        and "weight" in own
                        and weight.dim() > 1
                        and len(found) < MOST_MATRICES
                    ):
                        found.append((gain(weight), f"{name}.{own}"))
    real = [(value, name) for value, name in found if 0 < value < math.inf]
    if not real:
        return {}
    low, high = min(real), max(real)
    return {"initial_gain_min": low[0], "initial_gain_min_name": low[1],
            "initial_gain_max": high[0], "initial_gain_max_name": high[1]}  # fmt: skip


def gain(weight: torch.Tensor) -> float:
    """Root mean square of a weight [units, inputs, ...] times the root of what one unit takes in."""
    values = local(weight)
    inputs = values[0].numel() if len(values) else 0
    flat = values.reshape(-1)[:READ].float()
    return float(flat.square().mean().sqrt()) * math.sqrt(inputs) if flat.numel() and inputs else 0.0
