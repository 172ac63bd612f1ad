"""Gradients of several batches averaged instead of summed."""

from __future__ import annotations

import weakref
from collections import Counter
from collections.abc import Callable
from typing import Any

from traindx.capture.experiment.kinds import Apply, intervention
from traindx.capture.experiment.values import one_of
from traindx.capture.torch.experiment.settings import Optimizer
from traindx.capture.torch.experiment.site import Site


@intervention("loss", stage="backward", values=("/accumulation",), order=1)
def accumulated_loss(value: str) -> Apply:
    """Where a script calls `backward` several times before a step, the gradients are divided by how often
    it did: the step is then that of one large batch. Counted are the passes of the most frequent line since
    the last step or `zero_grad`. Does nothing where the loss itself is divided for that already, and
    where there is one pass for each step. Cannot be done to LBFGS."""
    one_of(value, "loss", ("/accumulation",))

    def apply(site: Site) -> None:
        passes = Passes(site)
        site.on_optimizer(passes.add)
        site.on_backward(passes.counted)
        site.before_measuring(passes.divide)
        zeroed = passes.zeroed
        import torch

        site.wrap(torch.optim.Optimizer, "zero_grad", zeroed)
        site.wrap(torch.nn.Module, "zero_grad", zeroed)
        site.unused = "the script makes one backward pass for each step, or divides the loss itself"

    return apply


class Passes:
    """Backward passes that each optimizer's gradients are the sum of, by line, and what each loss had been
    divided by."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.lines: weakref.WeakKeyDictionary[Optimizer, Counter[str]] = weakref.WeakKeyDictionary()
        self.divisors: weakref.WeakKeyDictionary[Optimizer, set[float]] = weakref.WeakKeyDictionary()

    def add(self, optimizer: Optimizer) -> None:
        self.lines[optimizer], self.divisors[optimizer] = Counter(), set()

    def counted(self, loss: Any) -> None:
        from traindx.capture.torch.discover.loop import divisor

        scaled = self.site.hooks.stream.scene.scaled
        if scaled is not None and scaled[0]() is loss:
            loss = scaled[1]()
        by = 1.0 if loss is None else divisor(loss)
        where = self.site.hooks.stream.lines.here()
        for optimizer in list(self.lines):
            self.lines[optimizer][where] += 1
            self.divisors[optimizer].add(by)

    def divide(self, optimizer: Optimizer) -> None:
        lines, divisors = self.lines.get(optimizer), self.divisors.get(optimizer)
        self.add(optimizer)
        count = max(lines.values(), default=1) if lines else 1
        if count == 1 or any(
            by != 1 and by >= count - 1e-6 and abs(by - round(by)) < 1e-6 for by in divisors or ()
        ):
            return
        for group in optimizer.param_groups:
            for p in group["params"]:
                if p.grad is not None:
                    p.grad.div_(count)
        self.site.touched("steps")

    def zeroed(self, original: Callable[..., Any], owner: Any, *args: Any, **named: Any) -> Any:
        """Gradients of an optimizer or a module are zeroed: what they were the sum of is over."""
        if owner in self.lines:
            self.add(owner)
        elif hasattr(owner, "parameters"):
            own = {id(p) for p in owner.parameters()}
            for optimizer in list(self.lines):
                if all(id(p) in own for group in optimizer.param_groups for p in group["params"]):
                    self.add(optimizer)
        return original(owner, *args, **named)
