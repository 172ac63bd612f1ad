"""Gradients zeroed after each step."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

from traindx.capture.interventions.kinds import Apply, intervention
from traindx.capture.interventions.site import Optimizer, Site
from traindx.capture.interventions.values import one_of


@intervention("zero_grad", stage="backward", values=("each-step",))
def zero_grad(value: str) -> Apply:
    """Gradients that a step has used are gone before the next backward pass (and, of a step with a closure,
    before each call of it), so that each step has those of its own batches. Several backward passes before
    one step still add up. What the backward pass of one optimizer leaves in the parameters of another is not
    told apart. Does nothing where the script zeroes them itself."""
    one_of(value, "zero_grad", ("each-step",))

    def apply(site: Site) -> None:
        import torch

        used: weakref.WeakSet[Optimizer] = weakref.WeakSet()  # whose gradients a step has used
        stale: weakref.WeakSet[Optimizer] = weakref.WeakSet()  # whose gradients were cleared here since then

        def clear(optimizer: Optimizer) -> None:
            parameters = [p for group in optimizer.param_groups for p in group["params"] if p.grad is not None]
            if any(bool(p.grad.any()) for p in parameters):
                for p in parameters:
                    p.grad = None
                stale.add(optimizer)

        def begins(optimizer: Optimizer) -> None:
            if optimizer in stale:  # the script has not zeroed them in the meantime either
                stale.discard(optimizer)
                site.touched("steps")

        def zeroed(original: Callable[..., Any], *args: Any, **named: Any) -> Any:
            found = original(*args, **named)
            for optimizer in list(stale):
                parameters = [p for group in optimizer.param_groups for p in group["params"]]
                if not any(p.grad is not None and bool(p.grad.any()) for p in parameters):
                    stale.discard(optimizer)
            return found

        def before(_loss: object) -> None:
            for optimizer in list(used):
                clear(optimizer)
            used.clear()

        site.on_backward(before)
        site.before_closure(clear)
        site.around_step(begins, used.add)
        for owner in (torch.optim.Optimizer, torch.nn.Module):
            site.wrap(owner, "zero_grad", zeroed)
        site.unused = "the script zeroes its gradients itself"

    return apply
