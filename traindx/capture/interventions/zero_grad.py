"""Gradients zeroed after each step."""

from __future__ import annotations

import weakref

from traindx.capture.interventions.kinds import Apply, intervention
from traindx.capture.interventions.site import Optimizer, Site
from traindx.capture.interventions.values import one_of


@intervention("zero_grad", stage="backward", values=("each-step",))
def zero_grad(value: str) -> Apply:
    """Gradients that a step has used are gone before the next backward pass (and, of a step with a closure,
    before each call of it), so that each step has those of its own batches. Several backward passes before
    one step still add up. Does nothing where the script zeroes them itself."""
    one_of(value, "zero_grad", ("each-step",))

    def apply(site: Site) -> None:
        used: weakref.WeakSet[Optimizer] = weakref.WeakSet()

        def clear(optimizer: Optimizer) -> None:
            parameters = [p for group in optimizer.param_groups for p in group["params"] if p.grad is not None]
            if any(bool(p.grad.any()) for p in parameters):
                for p in parameters:
                    p.grad = None
                site.touched("steps")

        def before(_loss: object) -> None:
            for optimizer in list(used):
                clear(optimizer)
            used.clear()

        site.on_backward(before)
        site.before_closure(clear)
        site.around_step(lambda _: None, used.add)
        site.unused = "the script zeroes its gradients itself"

    return apply
