"""Larger batches, by several of the script's before one step."""

from __future__ import annotations

import weakref
from typing import Any

from traindx.capture.experiment.kinds import Apply, intervention
from traindx.capture.experiment.values import whole
from traindx.capture.torch.experiment.settings import Optimizer
from traindx.capture.torch.experiment.site import Site


@intervention("accumulate", stage="backward", values=("4",), order=2)
def accumulate(value: str) -> Apply:
    """One step for every four that the script makes, with the mean of their gradients: batches four times as
    large. However the script zeroes its gradients, they are kept apart; its schedule goes on with every step
    of its own. The record counts the steps that are made; `--steps` too. What is left over at the end is
    not used. Cannot be done to LBFGS, and to optimizers of the script's own that take a closure."""
    wanted = whole(value, "accumulate")

    def apply(site: Site) -> None:
        if wanted == 1:
            site.needs_optimizer = True
            site.unused = "one batch for each step is what the script has"
            return
        kept: weakref.WeakKeyDictionary[Optimizer, tuple[int, dict[Any, Any]]] = weakref.WeakKeyDictionary()

        def gather(optimizer: Optimizer) -> None:
            count, sums = kept.get(optimizer, (0, {}))
            count += 1
            parameters = [p for group in optimizer.param_groups for p in group["params"]]
            for p in parameters:
                if p.grad is not None:
                    sums[p] = p.grad + sums[p] if p in sums else p.grad.clone()
            if count < wanted:
                kept[optimizer] = count, sums
                site.hold_back(optimizer)
                site.touched("steps held back")
                return
            kept.pop(optimizer, None)
            for p in parameters:
                p.grad = sums[p].div_(wanted) if p in sums else None
            site.touched("steps")

        site.before_measuring(gather)
        site.unused = f"the script made fewer than {wanted} steps"

    return apply
