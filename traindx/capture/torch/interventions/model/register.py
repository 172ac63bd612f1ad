"""All parameters known to the optimizer."""

from __future__ import annotations

from typing import Any

from traindx.capture.experiment.kinds import Apply, intervention
from traindx.capture.experiment.values import one_of
from traindx.capture.torch.experiment.settings import Optimizer
from traindx.capture.torch.experiment.site import Site

LOOKS = 20  # backward passes in which parameters are looked for


@intervention("register", stage="model", values=("all",), order=1)
def register(value: str) -> Apply:
    """Parameters that the loss depends on and that no optimizer holds (left out of its list, or in modules
    kept in a plain list, which their model does not know) are added to the first group of the optimizer that
    holds most of the others. Their gradients are cleared after each step. Looked for in the first 20
    backward passes."""
    one_of(value, "register", ("all",))

    def apply(site: Site) -> None:
        found = Loose(site)
        site.on_optimizer(found.optimizers.append)
        site.on_backward(found.look)
        site.around_step(lambda _: None, found.clear)
        site.unused = "the optimizer holds every parameter that the loss depends on"

    return apply


class Loose:
    """Parameters without an optimizer."""

    def __init__(self, site: Site) -> None:
        self.site, self.looks = site, 0
        self.optimizers: list[Optimizer] = []
        self.added: dict[int, list[Any]] = {}  # id(optimizer) -> its new parameters

    def look(self, loss: Any) -> None:
        import torch

        from traindx.capture.torch.discover.manual import leaves

        if self.looks >= LOOKS or loss is None or not self.optimizers:
            return
        self.looks += 1
        holders = {id(p): o for o in self.optimizers for group in o.param_groups for p in group["params"]}
        parameters = [p for p in leaves(loss) if isinstance(p, torch.nn.Parameter) and p.requires_grad]
        loose = [p for p in parameters if id(p) not in holders]
        if not loose:
            return
        held = [holders[id(p)] for p in parameters if id(p) in holders] or self.optimizers
        optimizer = max(self.optimizers, key=held.count)
        optimizer.param_groups[0]["params"].extend(loose)
        self.added.setdefault(id(optimizer), []).extend(loose)
        self.site.touched("tensors", len(loose))
        self.site.touched("parameters", sum(p.numel() for p in loose))

    def clear(self, optimizer: Optimizer) -> None:
        """The script may zero gradients by way of a model that does not know these."""
        for p in self.added.get(id(optimizer), ()):
            p.grad = None
