"""Gradients zeroed after each step."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

from traindx.capture.experiment.kinds import Apply, intervention
from traindx.capture.experiment.values import one_of
from traindx.capture.torch.experiment.settings import Optimizer
from traindx.capture.torch.experiment.site import Site


@intervention("zero_grad", stage="backward", values=("each-step",))
def zero_grad(value: str) -> Apply:
    """Gradients that a step has used are gone before the next backward pass (and, of a step with a closure,
    before each call of it), so that each step has those of its own batches. Several backward passes before
    one step still add up. What the backward pass of one optimizer leaves in the parameters of another is not
    told apart. Does nothing where the script zeroes them itself."""
    one_of(value, "zero_grad", ("each-step",))

    def apply(site: Site) -> None:
        import torch

        used = Used(site)
        site.on_backward(used.clear_all)
        site.before_closure(used.clear)
        site.around_step(used.begins, used.optimizers.add)
        for owner in (torch.optim.Optimizer, torch.nn.Module):
            site.wrap(owner, "zero_grad", used.zeroed)
        site.unused = "the script zeroes its gradients itself"

    return apply


class Used:
    """Gradients that a step has used already."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.optimizers: weakref.WeakSet[Optimizer] = (
            weakref.WeakSet()
        )  # that stepped since the last backward pass
        self.cleared: weakref.WeakSet[Optimizer] = (
            weakref.WeakSet()
        )  # whose gradients were cleared here since then

    def clear_all(self, _loss: object) -> None:
        for optimizer in list(self.optimizers):
            self.clear(optimizer)
        self.optimizers.clear()

    def clear(self, optimizer: Optimizer) -> None:
        if not is_clear(optimizer):
            for group in optimizer.param_groups:
                for p in group["params"]:
                    p.grad = None
            self.cleared.add(optimizer)

    def begins(self, optimizer: Optimizer) -> None:
        """A step that the script has not zeroed gradients for in the meantime either."""
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
    """Whether no gradient is there, or all are 0."""
    parameters = (p for group in optimizer.param_groups for p in group["params"])
    return not any(p.grad is not None and bool(p.grad.any()) for p in parameters)
