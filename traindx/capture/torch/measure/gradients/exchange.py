"""The gradient that each of several processes computes, compared with the one that its step uses.

Data-parallel training averages gradients over the processes. Whether it does follows from a sum over
gradients with fixed factors: once over the gradients of the process's own backward passes, and once over
those in `grad` when the step begins. The sum is linear, so the second is the mean of the first over all
processes, however the exchange is written (DistributedDataParallel, its communication hooks, `all_reduce` by
hand). Nothing is communicated for it: the reader of the record has the sums of all processes. A process's
own gradients are read where the graph ends, before the average.

Directions are the angles between the gradients of two steps in a row, and the step in between. Of each pair
the same stretch of every parameter is read. Stretches are weighted by the size of their parameter, so that
sums over them estimate sums over all weights."""

from collections import deque
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import torch

from traindx.capture.process.patches import remove_all
from traindx.capture.session.noise import noise_scale_of_pairs
from traindx.capture.torch.hooks import is_tracing
from traindx.capture.torch.measure.tensors.shards import is_distributed
from traindx.capture.torch.measure.tensors.views import (
    isolate_operations,
    local_part,
    stretch,
    window,
    without_waiting,
)

DENSE, APART = 32, 8  # so many steps at the start, then every 8th: the same ones in each process
LARGEST = 1 << 12  # values of a parameter that is read, where there are smaller ones
MOST = 3  # parameters: one alone may have next to no gradient (a bias before a normalization)


class Exchange:
    """Of one optimizer's parameters, for one step after the other."""

    def __init__(self) -> None:
        self._picked: list[
            tuple[torch.Tensor, torch.Tensor]
        ] = []  # parameters, and factors for their values
        self._handles: list[Any] = []
        self._own: torch.Tensor | None = None
        self._steps = 0

    @property
    def due(self) -> bool:
        """Whether the coming step is measured."""
        return self._steps < DENSE or self._steps % APART == 0

    def begin_backward(self) -> None:
        """The graph of a loss is complete."""
        self._unhook()
        if not self._picked or not self.due or is_tracing():
            return
        for parameter, factors in self._picked:
            with torch.enable_grad():
                node = torch.autograd.graph.get_gradient_edge(parameter).node
            self._handles.append(node.register_prehook(partial(self._read, factors)))

    def _read(self, factors: torch.Tensor, gradients: tuple[torch.Tensor | None, ...]) -> None:
        gradient = gradients[0]
        with torch.no_grad(), isolate_operations():
            dense = gradient is not None and gradient.layout is torch.strided
            if gradient is not None and dense and gradient.numel() == len(factors):
                found = weighted_sum(gradient, factors)
                self._own = found if self._own is None else self._own + found

    def begin_step(self, parameters: Sequence[torch.Tensor], steps: int) -> dict[str, Any]:
        """Signals of the step that is about to be made after so many others."""
        self._unhook()
        own, self._own = self._own, None
        out: dict[str, Any] = {}
        if own is not None:
            used = sum(weighted_sum(p.grad, f) for p, f in self._picked if p.grad is not None)
            if isinstance(used, torch.Tensor):
                out = {"exchange/own": without_waiting(own), "exchange/used": without_waiting(used)}
        self._steps = steps + 1
        if not self._picked:
            self._picked = pick_parameters(parameters)
        return out

    def _unhook(self) -> None:
        remove_all(self._handles)

    def forget(self) -> None:
        """The step is not made."""
        self._unhook()
        self._own = None

    def release(self) -> None:
        self.forget()
        self._picked = []


def weighted_sum(gradient: torch.Tensor, factors: torch.Tensor) -> torch.Tensor:
    return torch.dot(gradient.detach().reshape(-1).float(), factors)


def pick_parameters(parameters: Sequence[torch.Tensor]) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """The first, the middle and the last of the small parameters that got a gradient, which is the same
    choice in every process; each with its factors."""
    there = [
        p
        for p in parameters
        if p.grad is not None and p.requires_grad and p.is_leaf and not is_distributed(p)
    ]
    dense = [p for p in there if p.grad is not None and p.grad.layout is torch.strided and p.numel() > 1]
    small = [p for p in dense if p.numel() <= LARGEST] or sorted(dense, key=lambda p: p.numel())[:1]
    places = sorted({0, len(small) // 2, len(small) - 1})[:MOST] if small else []
    return [(small[i], torch.arange(1, small[i].numel() + 1, device=small[i].device).cos()) for i in places]


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
        self._parameters = [p for p in parameters if _comparable(p.grad, p) and local_part(p).numel()]
        if not self._parameters:
            return
        gradients = [self._read(p.grad) for p in self._parameters if p.grad is not None]
        sizes = [local_part(p).numel() / len(g) for p, g in zip(self._parameters, gradients, strict=True)]
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
        count = local_part(tensor).numel()
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
