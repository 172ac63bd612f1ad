"""Gradients zeroed after each step."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import torch

from traindx.capture.experiment.applies import applies
from traindx.capture.torch.experiment.settings import Optimizer, parameters_of, with_gradients
from traindx.capture.torch.experiment.site import Site


@applies("zero_grad")
def zero_grad(site: Site, _value: str) -> None:

    used = Used(site)
    site.on_backward(used.clear_all)
    site.before_closure(used.clear)
    site.around_step(used.begins, used.optimizers.add)
    for owner in (torch.optim.Optimizer, torch.nn.Module):
        site.wrap(owner, "zero_grad", used.zeroed)
    site.unused = "the script zeroes its gradients itself"


class Used:
    """Gradients that a step has used already."""

    def __init__(self, site: Site) -> None:
        self.site = site
        # Optimizers that stepped since the last backward pass.
        self.optimizers: weakref.WeakSet[Optimizer] = weakref.WeakSet()
        # Of those, the ones whose gradients were cleared here.
        self.cleared: weakref.WeakSet[Optimizer] = weakref.WeakSet()

    def clear_all(self, _loss: object) -> None:
        for optimizer in list(self.optimizers):
            self.clear(optimizer)
        self.optimizers.clear()

    def clear(self, optimizer: Optimizer) -> None:
        if not is_clear(optimizer):
            for p in parameters_of(optimizer):
                p.grad = None
            self.cleared.add(optimizer)

    def begins(self, optimizer: Optimizer) -> None:
        """Before a step whose gradients were cleared here and not by the script."""
        if optimizer in self.cleared:
            self.cleared.discard(optimizer)
            self.site.touched("steps")

    def zeroed(self, original: Callable[..., Any], *args: Any, **named: Any) -> Any:
        found = original(*args, **named)
        for optimizer in list(self.cleared):
            if is_clear(optimizer):
                self.cleared.discard(optimizer)
        return found


def is_clear(optimizer: Optimizer) -> bool:
    """Whether there is no gradient, or all are 0."""
    return not any(bool(p.grad.any()) for p in with_gradients(optimizer))
