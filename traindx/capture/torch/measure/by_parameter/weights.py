"""Sizes of weights."""

from collections.abc import Sequence

import numpy as np
import torch

from traindx.capture.arrays.activations import square_sum
from traindx.capture.torch.measure.gradients.norms_and_updates import norms_of
from traindx.capture.torch.measure.tensors.views import Array, flat, local_part


def read(parameters: Sequence[torch.Tensor], elsewhere: bool) -> Array | torch.Tensor:
    """`[2 * P]`: the L2 norm of each parameter, then its largest absolute value."""
    if elsewhere:
        there = [local_part(p) for p in parameters]
        return torch.cat([norms_of(there), norms_of(there, float("inf"))])
    norms, largest = [], []
    for parameter in parameters:
        values = flat(parameter)
        norms.append(square_sum(values) ** 0.5)
        largest.append(max(float(values.max()), -float(values.min())) if len(values) else 0.0)
    return np.array(norms + largest)
