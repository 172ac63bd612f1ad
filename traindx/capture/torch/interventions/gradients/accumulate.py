"""Larger batches: several batches of the script before one step."""

from __future__ import annotations

import weakref
from typing import Any

from traindx.capture.experiment.applies import applies
from traindx.capture.torch.experiment.settings import Optimizer, parameters_of
from traindx.capture.torch.experiment.site import Site


@applies("accumulate")
def accumulate(site: Site, wanted: int) -> None:
    if wanted == 1:
        site.needs_optimizer = True
        site.unused = "the script already uses one batch for each step"
        return
    kept: weakref.WeakKeyDictionary[Optimizer, tuple[int, dict[Any, Any]]] = weakref.WeakKeyDictionary()

    def gather(optimizer: Optimizer) -> None:
        count, sums = kept.get(optimizer, (0, {}))
        count += 1
        parameters = parameters_of(optimizer)
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
