"""The outputs of a module for a batch: on the host as arrays for `arrays/activations`, on an accelerator
with the same statistics computed there."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from traindx.capture.arrays.activations import (
    SATURATED,
    SIGMOID_EDGE,
    TANH_EDGE,
    Array,
    Kind,
    host_rank,
    rank_part,
    rows_of,
)
from traindx.capture.torch.measure.tensors.views import NATIVE, local


def host_values(output: torch.Tensor) -> Any:
    """A tensor on the CPU as an array that shares its memory; half precision stays a tensor."""
    output = local(output)
    return output.numpy() if output.dtype in NATIVE else output


def host_rows(output: torch.Tensor, turn: int) -> Array:
    """`rows_of` a tensor on the CPU as an array; of half precision only those rows are copied."""
    rows = rows_of(host_values(output), turn)
    return rows.float().numpy() if isinstance(rows, torch.Tensor) else np.asarray(rows)


def host_part(output: torch.Tensor) -> Array | None:
    """A copy of the `rank_part` of a tensor on the CPU, in single precision."""
    part = rank_part(host_values(output))
    if part is None:
        return None
    return np.array(part.float().numpy() if isinstance(part, torch.Tensor) else part, np.float32)


def effective_rank(output: torch.Tensor) -> float:
    """Participation ratio of the covariance over samples, (sum of eigenvalues)^2 / sum of their
    squares: 1 when outputs lie on a line, 0 when they are the same for every sample (to rounding),
    at most RANK_ROWS - 1. NaN below four samples. Needs no eigenvalues: both sums are traces."""
    return host_rank(host_part(output))


def _rank_there(output: torch.Tensor | None) -> torch.Tensor | float:
    """`effective_rank` on the output's device, without waiting for it."""
    part = None if output is None else rank_part(output.detach())
    if part is None:
        return float("nan")
    part = part.float().contiguous()
    centred = part - part.mean(0)
    gram = torch.mm(centred, centred.t())
    trace, level = gram.diagonal().sum(), torch.dot(part.reshape(-1), part.reshape(-1))
    flat = gram.reshape(-1)
    return torch.where(
        trace <= 1e-10 * level, torch.zeros_like(trace), trace * trace / torch.dot(flat, flat)
    )


def measured_on_device(
    rows: torch.Tensor, kind: Kind, before: torch.Tensor | None, spread: torch.Tensor | None
) -> list[torch.Tensor | float]:
    """As `measured`, but as tensors on the output's device (no synchronization)."""
    values = rows.detach().float()
    std, mean = torch.std_mean(values, correction=0)
    low, high = torch.aminmax(values)
    bad = (~torch.isfinite(values)).sum().float()
    edge: torch.Tensor | float = float("nan")
    if kind == "squasher" and before is not None:
        edge = (before.detach().abs() > SATURATED).float().mean()
    elif kind == "tanh output":
        edge = (values.abs() > TANH_EDGE).float().mean()
    elif kind == "sigmoid output":
        edge = ((values - 0.5).abs() > SIGMOID_EDGE - 0.5).float().mean()
    return [mean, std, torch.maximum(high, -low), bad, edge, _rank_there(spread)]
