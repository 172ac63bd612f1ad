"""Gradients, weights and updates: one pass over each on the steps that are sampled.

Every reading is a vector with one entry per parameter, on the CPU a numpy array, else a tensor
that stays on its device until readings are fetched together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from traindx.capture.measure_views import flat, local, square_sum, window, zeros

WINDOW = 1 << 14  # values of a parameter that its update and its zeros are judged by
Array = np.ndarray[Any, np.dtype[Any]]


def gradient_norms(gradients: Sequence[torch.Tensor | None], device: bool) -> Array | torch.Tensor:
    """`norm[p]`: L2 norm of each gradient; 0 where there is none."""
    if not device:
        return np.sqrt([0.0 if g is None else square_sum(flat(g)) for g in gradients])
    return _norms([None if g is None else local(g) for g in gradients])


def _norms(tensors: Sequence[torch.Tensor | None], order: float = 2.0) -> torch.Tensor:
    """Norms of many tensors in few kernels, as one float32 vector on the first one's device."""
    there = [t for t in tensors if t is not None and t.numel()]
    if not there:
        return torch.zeros(len(tensors))
    found = iter(torch._foreach_norm(there, order))
    zero = torch.zeros((), device=there[0].device)
    norms = [zero if t is None or not t.numel() else next(found).float() for t in tensors]
    return torch.stack([n.to(zero.device, non_blocking=True) for n in norms])


class Updates:
    """Change of weights over one optimizer step, seen through a window of each parameter that
    moves on from sample to sample: at most WINDOW values of a parameter are copied."""

    def __init__(self, device: bool) -> None:
        self._device = device
        self.turn = 0
        self._before: list[tuple[int, torch.Tensor, int, Any]] = []
        self._zeros: list[Any] = []

    def begin(self, parameters: Sequence[torch.Tensor]) -> Array | torch.Tensor:
        """Before the step: copies the windows; returns `zero_share[p]` of the gradients (NaN
        without a gradient)."""
        self.turn += 1
        self._before = []
        shares: list[Any] = []
        for place, parameter in enumerate(parameters):
            gradient = parameter.grad
            size = parameter.numel()
            start = (self.turn - 1) * WINDOW % max(size - WINDOW, 1)
            part = window(parameter, start, WINDOW)
            zero: Any = float("nan")
            if gradient is not None and size:
                seen = window(gradient, start, WINDOW)
                if self._device:
                    zero = (seen == 0).float().mean() if seen.numel() else zero
                elif seen.numel():
                    zero = zeros(flat(seen)) / seen.numel()
                kept = part.clone() if self._device else flat(part).copy()
                self._before.append((place, parameter, start, kept))
            shares.append(zero)
        return self._vector(shares)

    def end(self, count: int) -> Array | torch.Tensor:
        """After the step: `[3 * count]`: for each parameter the norm of the change, the norm of
        the weights (both in the window), and the share of them that did not change; NaN where not
        measured."""
        out: list[Any] = [float("nan")] * (3 * count)
        for place, parameter, start, before in self._before:
            part = window(parameter, start, WINDOW)
            if self._device:
                change = part - before
                out[place], out[count + place] = torch._foreach_norm([change, part])
                out[2 * count + place] = (change == 0).float().mean()
            else:
                now = flat(part)
                change = np.subtract(now, before, out=before)
                out[place] = square_sum(change) ** 0.5
                out[count + place] = square_sum(now) ** 0.5
                out[2 * count + place] = zeros(change) / len(change)
        self._before = []
        return self._vector(out)

    def forget(self) -> None:
        self._before = []

    def _vector(self, values: list[Any]) -> Array | torch.Tensor:
        if not self._device:
            return np.array(values, np.float64)
        tensors = [v for v in values if isinstance(v, torch.Tensor)]
        device = tensors[0].device if tensors else torch.device("cpu")
        return torch.stack([v.float() if isinstance(v, torch.Tensor) else _filled(v, device) for v in values])


def _filled(value: float, device: torch.device) -> torch.Tensor:
    return torch.full((), value, device=device)  # made there: a copy from the host would wait


def weight_sizes(parameters: Sequence[torch.Tensor], device: bool) -> Array | torch.Tensor:
    """`[2 * P]`: the L2 norm of each parameter, then its largest absolute value."""
    if device:
        there = [local(p) for p in parameters]
        return torch.cat([_norms(there), _norms(there, float("inf"))])
    norms, largest = [], []
    for parameter in parameters:
        values = flat(parameter)
        norms.append(square_sum(values) ** 0.5)
        largest.append(max(float(values.max()), -float(values.min())) if len(values) else 0.0)
    return np.array(norms + largest)
