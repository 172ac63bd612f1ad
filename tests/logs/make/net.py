"""A small net and data set for the makers that train with plain torch."""

from __future__ import annotations

import torch
from torch import nn


def data(
    count: int = 256, classes: int = 4, width: int = 8, seed: int = 0
) -> tuple[torch.Tensor, torch.Tensor]:
    """Blobs: inputs [count, width], labels [count]."""
    generator = torch.Generator().manual_seed(seed)
    centers = 2 * torch.randn(classes, width, generator=torch.Generator().manual_seed(7))
    labels = torch.randint(classes, (count,), generator=generator)
    return centers[labels] + torch.randn(count, width, generator=generator), labels


def net(seed: int = 0, width: int = 8, classes: int = 4) -> nn.Module:
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(width, 16), nn.ReLU(), nn.Linear(16, classes))
