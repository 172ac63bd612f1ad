"""The angle between the gradients of two steps in a row, and between them and the step in between.

Of each pair the same stretch of every parameter is read. Stretches are weighted by the size of their
parameter, so that sums over them estimate sums over all weights."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from traindx.capture.session.noise import noise_scale_of_pairs
from traindx.capture.torch.measure.tensors.views import local, stretch, window

WINDOW = 1 << 11  # values of a parameter that are read
PAIRS = 20  # last pairs of steps that the noise scale is taken of
Array = np.ndarray[Any, np.dtype[Any]]


class Directions:
    """`first` on one step, `second` on the next: before the optimizer uses the gradients. On an
    accelerator nothing is waited for: the numbers are tensors there."""

    def __init__(self, device: bool) -> None:
        self._device = device
        self._turn = 0
        self._parameters: list[torch.Tensor] = []
        self._before: tuple[Any, Any] = (None, None)  # gradients and weights of the first step, concatenated
        self._weights: Any = None  # how many values each of them represents
        self._factor = 1.0
        self._pairs: deque[tuple[float, float]] = deque(maxlen=PAIRS)

    @property
    def waiting(self) -> bool:
        """Whether the next step is the second of a pair."""
        return bool(self._parameters)

    def forget(self) -> None:
        """The second step is not made."""
        self._parameters = []

    def first(self, parameters: Sequence[torch.Tensor], factor: float) -> None:
        """Keep gradients and weights; `factor` undoes the scale of the gradients."""
        self._turn += 1
        self._factor = factor
        self._parameters = [p for p in parameters if _comparable(p.grad, p) and local(p).numel()]
        if not self._parameters:
            return
        gradients = [self._read(p.grad) for p in self._parameters if p.grad is not None]
        sizes = [local(p).numel() / len(g) for p, g in zip(self._parameters, gradients, strict=True)]
        self._before = (
            self._concatenate(gradients),
            self._concatenate([self._read(p) for p in self._parameters]),
        )
        if self._device:  # made there: a copy from the host would wait
            self._weights = torch.cat([torch.full_like(g, s) for g, s in zip(gradients, sizes, strict=True)])
        else:
            self._weights = np.repeat(np.array(sizes, np.float32), [len(g) for g in gradients])

    def second(self, factor: float, samples: float) -> dict[str, Any]:
        """`grad_cosine`: of the gradients of both steps. `update_cosine`: of the step and the downhill
        direction after it, below 0 if the step was too long. `grad_noise_scale`: from PAIRS pairs on a host,
        of gradients over `samples` samples each. Nothing where a gradient is gone."""
        parameters, self._parameters = self._parameters, []
        gradient, before = self._before
        self._before = None, None
        if not all(_comparable(p.grad, p) for p in parameters):
            return {}
        now = self._concatenate([self._read(p.grad) for p in parameters if p.grad is not None])
        if len(now) != len(gradient):
            return {}
        moved = self._concatenate([self._read(p) for p in parameters]) - before
        dot = torch.dot if self._device else np.dot
        weighted = now * self._weights
        first, second = dot(gradient * self._weights, gradient), dot(weighted, now)
        both, against = dot(gradient, weighted), dot(moved, weighted)
        length = dot(moved * self._weights, moved)
        out = {
            "grad_cosine": _cosine(both, first, second),
            "update_cosine": _cosine(-against, length, second),
        }
        if self._device:
            return out
        if samples > 0:
            out |= self._noise_scale(float(first), float(second), float(both), factor, samples)
        return {name: v for name, v in out.items() if v == v}

    def _noise_scale(
        self, first: float, second: float, both: float, factor: float, samples: float
    ) -> dict[str, float]:
        """From squared norms and the product of two gradients, and those of the pairs before."""
        mean = (self._factor**2 * first + factor**2 * second) / 2
        self._pairs.append((mean, self._factor * factor * both))
        if len(self._pairs) < PAIRS:
            return {}
        return {"grad_noise_scale": noise_scale_of_pairs(list(self._pairs), samples)}

    def _read(self, tensor: torch.Tensor) -> Any:
        if not self._device:
            return stretch(tensor, self._turn, WINDOW)
        count = local(tensor).numel()
        return window(tensor, (self._turn - 1) * WINDOW % max(count - WINDOW, 1), WINDOW).float()

    def _concatenate(self, parts: list[Any]) -> Any:
        """A copy."""
        return torch.cat(parts) if self._device else np.concatenate(parts)


def _comparable(gradient: torch.Tensor | None, parameter: torch.Tensor) -> bool:
    """Whether there is a gradient with the same memory layout as its parameter."""
    return (
        gradient is not None and gradient.layout is torch.strided and gradient.stride() == parameter.stride()
    )


def _cosine(product: Any, one: Any, other: Any) -> Any:
    """From a product and two squared norms; NaN where there is nothing to compare."""
    if isinstance(product, torch.Tensor):
        return product / (one * other).sqrt()
    size = float(one) * float(other)
    return float(product) / size**0.5 if size > 0 else float("nan")
