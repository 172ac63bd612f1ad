"""What a module puts out for a batch: moments, silent units, saturation, dependence on the input.

At most SAMPLE values of an output are read (whole samples, beginning further on each time)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import torch

from traindx.capture.measure_views import local, nonfinite, square_sum

Kind = Literal["", "rectifier", "squasher", "tanh output", "sigmoid output"]
Array = np.ndarray[Any, np.dtype[Any]]

SAMPLE = 1 << 15  # values of an output that are read
RANK_ROWS, RANK_COLUMNS = 32, 128  # samples and features that the effective rank is taken of
ENOUGH = 64  # samples after which a unit that was never active counts as silent
SATURATED = 3.0  # |pre-activation| beyond which tanh and sigmoid are flat
TANH_EDGE, SIGMOID_EDGE = float(np.tanh(SATURATED)), float(1 / (1 + np.exp(-SATURATED)))
FIELDS = ("act_mean", "act_std", "act_absmax", "act_nonfinite", "act_saturated_fraction", "act_rank")


@dataclass
class Units:
    """Which units of a rectifier were active: since the last turn, and in the turn before it."""

    now: Any = None
    before: Any = None
    samples: int = 0
    known: bool = field(default=False)

    def add(self, largest: Any, samples: int) -> None:
        """`largest[units]` over some samples."""
        active = largest > 0
        if self.now is None or self.now.shape != active.shape:
            self.now, self.before, self.samples, self.known = active, None, 0, False
        self.now = self.now | active
        self.samples += samples
        if self.samples >= ENOUGH:
            self.before, self.now, self.samples, self.known = self.now, active, 0, True

    def silent(self) -> Any:
        """Share of units that no sample made active (a tensor on its device); NaN before enough samples."""
        if not self.known:
            return float("nan")
        active = self.before | self.now
        return 1 - active.float().mean() if isinstance(active, torch.Tensor) else 1.0 - float(active.mean())


def rows_of(output: torch.Tensor, turn: int) -> torch.Tensor:
    """Some whole samples (first dimension) of an output: at most SAMPLE values, at least one."""
    output = local(output)
    if output.dim() < 2:
        return output.reshape(-1, 1)[:SAMPLE]
    count = max(1, min(len(output), SAMPLE * len(output) // max(output.numel(), 1)))
    start = turn * count % max(len(output) - count + 1, 1)
    return output[start : start + count]


def by_unit(rows: Any, channels_second: bool) -> Any:
    """`largest[units]`: the maximum of each unit over samples and positions. Units are the second
    dimension of images and convolutions, the last one of everything else."""
    if rows.ndim > 3 or (rows.ndim == 3 and channels_second):
        flat = rows.reshape(rows.shape[0], rows.shape[1], -1)
        return flat.amax((0, 2)) if isinstance(flat, torch.Tensor) else flat.max(2).max(0)
    flat = rows.reshape(-1, rows.shape[-1])
    return flat.amax(0) if isinstance(flat, torch.Tensor) else flat.max(0)


def measured(rows: torch.Tensor, kind: Kind, before: torch.Tensor | None, spread: torch.Tensor | None) -> list[float]:
    """The six FIELDS of an output on the CPU. `rows` from `rows_of`; `before`: the same rows of the
    pre-activation of a squasher; `spread`: the whole output, where its
    rank is wanted."""
    values = _native(rows).reshape(-1)
    count = len(values)
    total, squares = float(values.sum(dtype=np.float32)), square_sum(values)
    mean = total / count
    bad = 0 if np.isfinite(squares) else nonfinite(values)
    std = max(squares / count - mean * mean, 0.0) ** 0.5
    largest = max(float(values.max()), -float(values.min()))
    return [mean, std, largest, float(bad), _saturated(values, kind, before), effective_rank(spread)]


def _native(tensor: torch.Tensor) -> Array:
    tensor = tensor.detach()
    return np.asarray((tensor if tensor.dtype in (torch.float32, torch.float64) else tensor.float()).numpy())


def _saturated(values: Array, kind: Kind, before: torch.Tensor | None) -> float:
    if kind == "squasher" and before is not None:
        inner = _native(before)
        return float(np.count_nonzero(np.abs(inner) > SATURATED)) / max(inner.size, 1)
    if kind == "tanh output":
        return float(np.count_nonzero(np.abs(values) > TANH_EDGE)) / len(values)
    if kind == "sigmoid output":
        return float(np.count_nonzero(np.abs(values - 0.5) > SIGMOID_EDGE - 0.5)) / len(values)
    return float("nan")


def effective_rank(output: torch.Tensor | None) -> float:
    """Participation ratio of the covariance over samples, (sum of eigenvalues)^2 / sum of their
    squares: 1 when outputs lie on a line, 0 when they are the same for every sample (to rounding),
    at most RANK_ROWS - 1. NaN below four samples. Needs no eigenvalues: both sums are traces."""
    found = _rank(output)
    return found if isinstance(found, float) else float(found)


def _rank(output: torch.Tensor | None) -> torch.Tensor | float:
    """`effective_rank` on the output's device. The products are PyTorch's: numpy's linear algebra
    has threads of its own, which wait for processors that the training keeps busy."""
    if output is None or output.dim() < 2 or len(output) < 4:
        return float("nan")
    output = output.detach()
    features = output.reshape(len(output), -1)
    stride = max(1, features.shape[1] // RANK_COLUMNS)
    part = features[:RANK_ROWS, ::stride][:, :RANK_COLUMNS].float().contiguous()
    centred = part - part.mean(0)
    gram = torch.mm(centred, centred.t())
    trace, level = gram.diagonal().sum(), torch.dot(part.reshape(-1), part.reshape(-1))
    flat = gram.reshape(-1)
    return torch.where(trace <= 1e-10 * level, torch.zeros_like(trace), trace * trace / torch.dot(flat, flat))


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
    return [mean, std, torch.maximum(high, -low), bad, edge, _rank(spread)]
