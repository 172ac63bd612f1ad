"""Gradients, weights and updates: one pass over each on the steps that are sampled.

Every reading is a vector with one entry per parameter, on the CPU a numpy array, else a tensor
that stays on its device until readings are fetched together."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from traindx.capture.arrays.activations import square_sum
from traindx.capture.torch.measure.tensors.views import flat, local_part, stretch, vector, window, zeros

WINDOW = 1 << 13  # values of a parameter that its update and its zeros are judged by
SINGLE = np.dtype(np.float32)
GRIDS = {
    "bfloat16": 0xFFFF,
    "float16": 0x1FFF,
}  # bits of single precision that are zero in values of that type
FEW = 64  # values of a gradient by which its grid is judged
Array = np.ndarray[Any, np.dtype[Any]]


def gradient_norms(parameters: Sequence[torch.Tensor]) -> torch.Tensor:
    """`norm[p]` on an accelerator: L2 norm of the gradient of each parameter; 0 where there is none."""
    return norms_of([None if p.grad is None else local_part(p.grad) for p in parameters])


def gradient_squares(parameters: Sequence[torch.Tensor]) -> list[float]:
    """`squares[p]` on the host: sum of squares of the gradient of each parameter; 0 where there is none.
    Called at every step, with cold caches: the case of nearly all gradients comes first, in as few
    operations as possible."""
    out = []
    for parameter in parameters:
        gradient = parameter.grad
        found = math.nan
        if type(gradient) is torch.Tensor:
            try:
                values = gradient.numpy().ravel("K")
                if values.dtype is SINGLE:
                    found = float(np.dot(values, values))
            except (TypeError, RuntimeError):  # sparse, half precision, or part of a graph itself
                found = math.nan
        if found - found != 0:
            found = square_sum(flat(gradient)) if gradient is not None else 0.0
        out.append(found)
    return out


def norms_of(tensors: Sequence[torch.Tensor | None], order: float = 2.0) -> torch.Tensor:
    """Norms of many tensors in few kernels, as one float32 vector on the first one's device."""
    there = [t for t in tensors if t is not None and t.numel()]
    if not there:
        return torch.zeros(len(tensors))
    found = iter(torch._foreach_norm(there, order))
    zero = torch.zeros((), device=there[0].device)
    norms = [zero if t is None or not t.numel() else next(found).float() for t in tensors]
    return torch.stack([n.to(zero.device, non_blocking=True) for n in norms])


class Grid:
    """Whether all gradients are values of a shorter number format, as they are if they were rounded to it in
    the backward pass. A loss scale that is a power of two does not change that."""

    def __init__(self) -> None:
        self.possible = dict(GRIDS)  # more values could change the result until none is left
        self._seen = 0

    def read(self, values: Array) -> None:
        """Some values of a gradient. Zeros and values that are not finite are left out."""
        if values.dtype != SINGLE:
            self.possible = {}
            return
        part = values[:FEW]
        bits = np.ascontiguousarray(part[np.isfinite(part) & (part != 0)]).view(np.int32)
        self._seen += len(bits)
        self.possible = {name: low for name, low in self.possible.items() if not (bits & low).any()}

    @property
    def name(self) -> str:
        """The format, the coarsest if several fit; "" where values are finer, or too few were seen."""
        return next(iter(self.possible), "") if self._seen >= FEW else ""


class Updates:
    """Change of weights over one optimizer step, read in a window of each parameter that moves on from
    sample to sample: at most WINDOW values of a parameter are copied."""

    def __init__(self, device: bool) -> None:
        self._device = device
        self.turn = 0
        self.grid = Grid()
        self._before: list[tuple[int, torch.Tensor, Any]] = []

    @property
    def number_format(self) -> str:
        return self.grid.name

    def begin(self, parameters: Sequence[torch.Tensor]) -> Array | torch.Tensor:
        """Before the step: copies the windows; returns `zero_share[p]` of the gradients (NaN
        without a gradient)."""
        self.turn += 1
        self._before = []
        if self._device:
            return self._begin_on_device(parameters)
        shares = np.full(len(parameters), np.nan)
        for place, parameter in enumerate(parameters):
            gradient = parameter.grad
            if gradient is not None and parameter.numel():
                seen = stretch(gradient, self.turn, WINDOW)
                if len(seen):
                    shares[place] = zeros(seen) / len(seen)
                    if self.grid.possible:
                        self.grid.read(seen)
                self._before.append((place, parameter, stretch(parameter, self.turn, WINDOW).copy()))
        return shares

    def end(self, count: int) -> Array | torch.Tensor:
        """After the step: `[3 * count]`: for each parameter the norm of the change, the norm of
        the weights before it (both in the window), and the share of them that did not change; NaN
        where not measured."""
        kept, self._before = self._before, []
        if self._device:
            return self._end_on_device(kept, count)
        out = np.full((3, count), np.nan)
        for place, parameter, before in kept:
            size, now = square_sum(before), stretch(parameter, self.turn, WINDOW)
            if size - size != 0:
                continue  # weights that are not finite do not change
            change = np.subtract(now, before, out=before)
            out[:, place] = square_sum(change) ** 0.5, size**0.5, zeros(change) / len(change)
        return out.reshape(-1)

    def _begin_on_device(self, parameters: Sequence[torch.Tensor]) -> torch.Tensor:
        """As `begin`, without waiting for the device."""
        shares: list[Any] = [float("nan")] * len(parameters)
        for place, parameter in enumerate(parameters):
            gradient = parameter.grad
            if gradient is not None and parameter.numel():
                seen = self._window(gradient)
                if seen.numel():
                    shares[place] = (seen == 0).float().mean()
                self._before.append((place, parameter, self._window(parameter).clone()))
        return vector(shares)

    def _end_on_device(self, kept: Sequence[tuple[int, torch.Tensor, Any]], count: int) -> torch.Tensor:
        out: list[Any] = [float("nan")] * (3 * count)
        now = [self._window(parameter) for _, parameter, _ in kept]
        before = [b for _, _, b in kept]
        if kept:
            sizes = torch._foreach_norm(before)
            changes = torch._foreach_sub(now, before)
            for (place, _, _), size, change, norm in zip(
                kept, sizes, changes, torch._foreach_norm(changes), strict=True
            ):
                out[place], out[count + place] = norm, size
                out[2 * count + place] = (change == 0).float().mean()
        return vector(out)

    def _window(self, tensor: torch.Tensor) -> torch.Tensor:
        return window(tensor, (self.turn - 1) * WINDOW % max(tensor.numel() - WINDOW + 1, 1), WINDOW)
