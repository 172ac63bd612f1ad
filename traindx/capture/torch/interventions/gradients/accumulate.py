"""Over how many backward passes gradients add up, what their sum is divided by, and when they are zeroed."""

import weakref
from collections import Counter

from traindx.capture.torch.alter.api import (
    Any,
    Callable,
    Optimizer,
    Site,
    applies,
    parameters_of,
    torch,
    with_gradients,
)
from traindx.capture.torch.discover.loop import divisor


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


@applies("loss", unused="the script makes one backward pass for each step, or divides the loss itself")
def accumulated_loss(site: Site, _value: str) -> None:
    passes = Passes(site)
    site.on_optimizer(passes.add)
    site.on_backward(passes.count)
    site.before_measuring(passes.divide)
    for owner in (torch.optim.Optimizer, torch.nn.Module):
        site.wrap(owner, "zero_grad", passes.zeroed)


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


@applies("zero_grad", unused="the script zeroes its gradients itself")
def zero_grad(site: Site, _value: str) -> None:

    used = Used(site)
    site.on_backward(used.clear_all)
    site.before_closure(used.clear)
    site.around_step(used.begins, used.optimizers.add)
    for owner in (torch.optim.Optimizer, torch.nn.Module):
        site.wrap(owner, "zero_grad", used.zeroed)


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
