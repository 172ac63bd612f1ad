"""Gradients of several batches averaged instead of summed."""

from __future__ import annotations

import weakref
from collections import Counter
from collections.abc import Callable
from typing import Any

import torch

from traindx.capture.experiment.applies import applies
from traindx.capture.torch.discover.loop import divisor
from traindx.capture.torch.experiment.settings import Optimizer, parameters_of, with_gradients
from traindx.capture.torch.experiment.site import Site


@applies("loss")
def accumulated_loss(site: Site, _value: str) -> None:
    passes = Passes(site)
    site.on_optimizer(passes.add)
    site.on_backward(passes.count)
    site.before_measuring(passes.divide)
    for owner in (torch.optim.Optimizer, torch.nn.Module):
        site.wrap(owner, "zero_grad", passes.zeroed)
    site.unused = "the script makes one backward pass for each step, or divides the loss itself"


class Passes:
    """For each optimizer, the backward passes that its gradients are the sum of, by line, and what each loss had been
    divided by."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.lines: weakref.WeakKeyDictionary[Optimizer, Counter[str]] = weakref.WeakKeyDictionary()
        self.divisors: weakref.WeakKeyDictionary[Optimizer, set[float]] = weakref.WeakKeyDictionary()

    def add(self, optimizer: Optimizer) -> None:
        self.lines[optimizer], self.divisors[optimizer] = Counter(), set()

    def count(self, loss: Any) -> None:
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
        for p in with_gradients(optimizer):
            p.grad.div_(count)
        self.site.touched("steps")

    def zeroed(self, original: Callable[..., Any], owner: Any, *args: Any, **named: Any) -> Any:
        """Gradients of an optimizer or a module are zeroed: counting begins anew."""
        if owner in self.lines:
            self.add(owner)
        elif hasattr(owner, "parameters"):
            own = {id(p) for p in owner.parameters()}
            for optimizer in list(self.lines):
                if all(id(p) in own for p in parameters_of(optimizer)):
                    self.add(optimizer)
        return original(owner, *args, **named)
