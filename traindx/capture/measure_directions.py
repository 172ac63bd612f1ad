"""How the gradients of two steps in a row lie to each other, and to the step between them.

Each pair is seen through the same stretch of every parameter, and the stretches are weighted by the size
of what they stand for, so that sums over them estimate sums over all weights."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from traindx.capture.measure_noise import noise_scale_of_pairs
from traindx.capture.measure_views import local, stretch, window

WINDOW = 1 << 11  # values of a parameter that are read
PAIRS = 20  # last pairs of steps that the noise scale is taken of
Array = np.ndarray[Any, np.dtype[Any]]


class Directions:
    """`first` on one step, `second` on the next: before the optimizer uses the gradients. On an
    accelerator nothing is waited for: the numbers are tensors there."""

    def __init__(self, device: bool) -> None:
        self._device = device
        self._turn = 0
        self._kept: list[tuple[torch.Tensor, Any, Any]] = []  # parameter, its gradient and values then
        self._factor = 1.0
        self._pairs: deque[tuple[float, float]] = deque(maxlen=PAIRS)

    @property
    def waiting(self) -> bool:
        """Whether the next step is to be the second of a pair."""
        return bool(self._kept)

    def forget(self) -> None:
        """The step after the first was none."""
        self._kept = []

    def first(self, parameters: Sequence[torch.Tensor], factor: float) -> None:
        """Keep gradients and weights; `factor` undoes the scale of the gradients."""
        self._turn += 1
        self._factor = factor
        self._kept = []
        for parameter in parameters:
            gradient = parameter.grad
            if gradient is not None and _alike(gradient, parameter) and local(gradient).numel():
                self._kept.append((parameter, self._copy(gradient), self._copy(parameter)))

    def second(self, factor: float, samples: float) -> dict[str, Any]:
        """`grad_cosine`: of the gradients of both steps. `update_cosine`: of the step that was made and the
        downhill direction after it: below 0 it went too far. `grad_noise_scale`, from PAIRS pairs on a
        host, where gradients of `samples` samples each hold a signal."""
        kept, self._kept = self._kept, []
        sums: Any = 0.0
        for parameter, gradient, before in kept:
            if parameter.grad is None or not _alike(parameter.grad, parameter):
                continue
            now = self._read(parameter.grad)
            if len(now) == len(gradient):
                weight = local(parameter).numel() / len(now)
                sums = sums + weight * self._products(gradient, now, self._read(parameter) - before)
        if isinstance(sums, float):
            return {}
        first, second, both, moved, against = sums
        out = {"grad_cosine": _cosine(both, first, second), "update_cosine": _cosine(-against, moved, second)}
        if not self._device and samples > 0:
            one, two = self._factor**2 * float(first), factor**2 * float(second)
            self._pairs.append(((one + two) / 2, self._factor * factor * float(both)))
            found = noise_scale_of_pairs(list(self._pairs), samples) if len(self._pairs) == PAIRS else np.nan
            out |= {"grad_noise_scale": found} if found == found else {}
        return out if self._device else {name: v for name, v in out.items() if v == v}

    def _read(self, tensor: torch.Tensor) -> Any:
        if not self._device:
            return stretch(tensor, self._turn, WINDOW)
        count = local(tensor).numel()
        return window(tensor, (self._turn - 1) * WINDOW % max(count - WINDOW, 1), WINDOW).float()

    def _copy(self, tensor: torch.Tensor) -> Any:
        found = self._read(tensor)
        return found.clone() if self._device else found.copy()

    def _products(self, first: Any, second: Any, moved: Any) -> Any:
        pairs = ((first, first), (second, second), (first, second), (moved, moved), (moved, second))
        if self._device:
            return torch.stack([torch.dot(a, b) for a, b in pairs])
        return np.array([np.dot(a, b) for a, b in pairs], np.float64)


def _alike(gradient: torch.Tensor, parameter: torch.Tensor) -> bool:
    """Whether both lie in memory in the same order."""
    return gradient.layout is torch.strided and gradient.stride() == parameter.stride()


def _cosine(product: Any, one: Any, other: Any) -> Any:
    """From a product and two squared norms; NaN where there is nothing to compare."""
    if isinstance(product, torch.Tensor):
        return product / (one * other).sqrt()
    size = float(one) * float(other)
    return float(product) / size**0.5 if size > 0 else float("nan")
