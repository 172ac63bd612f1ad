"""The gradient that each of several processes computes, compared with the one that its step uses.

Data-parallel training averages gradients over the processes. Whether it does follows from a sum over
gradients with fixed factors: once over the gradients of the process's own backward passes, and once over
those in `grad` when the step begins. The sum is linear, so the second is the mean of the first over all
processes, however the exchange is written (DistributedDataParallel, its communication hooks, `all_reduce` by
hand). Nothing is communicated for it: the reader of the record has the sums of all processes. A process's
own gradients are read where the graph ends, before the average."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import torch

from traindx.capture.process.patches import remove_all
from traindx.capture.torch.hooks import traced
from traindx.capture.torch.measure.tensors.shards import is_distributed
from traindx.capture.torch.measure.tensors.views import isolated, without_waiting

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
        if not self._picked or not self.due or traced():
            return
        for parameter, factors in self._picked:
            with torch.enable_grad():
                node = torch.autograd.graph.get_gradient_edge(parameter).node
            self._handles.append(node.register_prehook(partial(self._read, factors)))

    def _read(self, factors: torch.Tensor, gradients: tuple[torch.Tensor | None, ...]) -> None:
        gradient = gradients[0]
        with torch.no_grad(), isolated():
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
            self._picked = picked(parameters)
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


def picked(parameters: Sequence[torch.Tensor]) -> list[tuple[torch.Tensor, torch.Tensor]]:
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
