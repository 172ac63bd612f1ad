"""Which parameters the optimizer moves: those that were frozen, and those that it was never given."""

from traindx.capture.torch.alter.api import Any, Callable, Optimizer, Site, applies, parameters_of, torch
from traindx.capture.torch.discover.manual import leaf_tensors
from traindx.capture.torch.discover.models import largest

SEARCHED = 20  # backward passes in which parameters are searched for


@applies("register", unused="the optimizer holds every parameter that the loss depends on")
def register(site: Site, _value: str) -> None:
    found = Loose(site)
    site.on_optimizer(found.optimizers.append)
    site.on_backward(found.search)
    site.around_step(lambda _: None, found.clear)


class Loose:
    """Parameters without an optimizer."""

    def __init__(self, site: Site) -> None:
        self.site, self.searched = site, 0
        self.optimizers: list[Optimizer] = []
        self.added: dict[int, list[Any]] = {}  # id(optimizer) -> its new parameters

    def search(self, loss: Any) -> None:
        if self.searched >= SEARCHED or loss is None or not self.optimizers:
            return
        self.searched += 1
        holders = {id(p): o for o in self.optimizers for p in parameters_of(o)}
        parameters = [p for p in leaf_tensors(loss) if isinstance(p, torch.nn.Parameter) and p.requires_grad]
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
        """The script may zero gradients through a model that does not hold these parameters."""
        for p in self.added.get(id(optimizer), ()):
            p.grad = None


@applies("unfreeze", unused="no parameter was frozen")
def unfreeze(site: Site, _value: str) -> None:

    waiting: list[Optimizer] = []

    def hook(call: Callable[..., Any], module: Any, *args: Any, **named: Any) -> Any:
        if waiting and torch.is_grad_enabled():
            holders = {id(p): o for o in waiting for p in parameters_of(o)}
            waiting.clear()
            for model in largest(lambda m: any(id(p) in holders for p in m.parameters())):
                unfreeze_all(site, model, holders)
        return call(module, *args, **named)

    site.on_optimizer(waiting.append)
    site.around_calls(hook)


def unfreeze_all(site: Site, model: Any, holders: dict[int, Optimizer]) -> None:
    """Let all parameters of a model learn. An optimizer that was given only those that were not frozen gets
    the others, too: without that, nothing would move them."""
    held = [holders[id(p)] for p in model.parameters() if id(p) in holders]
    frozen = [p for p in model.parameters() if not p.requires_grad and p.is_floating_point()]
    for p in frozen:
        p.requires_grad_(True)
    max(held, key=held.count).param_groups[0]["params"].extend(p for p in frozen if id(p) not in holders)
    if frozen:
        site.touched("tensors", len(frozen))
        site.touched("parameters", sum(p.numel() for p in frozen))
