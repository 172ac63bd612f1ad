"""The size of each layer's initial weights, relative to the size that preserves the variance of a signal.

A matrix with n inputs preserves it where its entries have the root mean square 1 / sqrt(n). Their root mean
square times sqrt(n) is the gain. He initialization has a gain of 1.4 (He et al. 2015, arXiv:1502.01852),
Xavier's 1 (Glorot and Bengio 2010), PyTorch's default 0.6, a small transformer 0.15."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import nn

from traindx.capture.arrays.windows import gain_facts
from traindx.capture.torch.measure.models.tree import WEIGHTED, unwrapped
from traindx.capture.torch.measure.tensors.views import local
from traindx.vocabulary.setup import Fact

MOST_MATRICES, READ = 256, 1 << 16  # that are read; values of each


def initial_gains(models: Sequence[nn.Module]) -> dict[str, Fact]:
    """Facts of the smallest and the largest gain of the layers, and which they are. Weights that are zero
    are so on purpose, and transposed convolutions have their inputs in another dimension: both are left
    out."""
    found: list[tuple[float, str]] = []
    for model in models:
        for name, module in unwrapped(model).named_modules():
            if isinstance(module, WEIGHTED) and not isinstance(module, nn.modules.conv._ConvTransposeNd):
                for key, weight in module._parameters.items():
                    is_matrix = weight is not None and "weight" in key and weight.dim() > 1
                    if is_matrix and len(found) < MOST_MATRICES:
                        found.append((gain(weight), f"{name}.{key}"))
    return gain_facts([(value, name) for value, name in found if 0 < value < math.inf])


def gain(weight: torch.Tensor) -> float:
    """Root mean square of a weight [units, inputs, ...] times the square root of the inputs of one unit."""
    values = local(weight)
    inputs = values[0].numel() if len(values) else 0
    flat = values.reshape(-1)[:READ].float()
    return float(flat.square().mean().sqrt()) * math.sqrt(inputs) if flat.numel() and inputs else 0.0
