"""Settings of an optimizer's groups, changed for the duration of a step."""

from collections.abc import Callable
from typing import Any

from traindx.capture.experiment.site import Site

Optimizer = Any  # torch.optim.Optimizer
Change = Callable[[Optimizer, int, Any], Any]


def parameters_of(optimizer: Optimizer) -> list[Any]:
    """All parameters that an optimizer updates, group by group."""
    return [p for group in optimizer.param_groups for p in group["params"]]


def with_gradients(optimizer: Optimizer) -> list[Any]:
    return [p for p in parameters_of(optimizer) if p.grad is not None]


class Override:
    """Puts another value into `group[key]` before a step, and the script's own back after it."""

    def __init__(self, site: Site, key: str, new: Change, what: str) -> None:
        self.site, self.key, self.new, self.what = site, key, new, what
        self.told = False
        self.saved: dict[int, list[tuple[dict[str, Any], Any, Any]]] = {}  # group, its own value, ours

    def enter(self, optimizer: Optimizer) -> None:
        self.leave(optimizer)  # a step that raised did not come to its end
        saved, changed = self.saved.setdefault(id(optimizer), []), False
        for i, group in enumerate(optimizer.param_groups):
            if self.key not in group:
                instead = "; it has betas" if self.key == "momentum" and "betas" in group else ""
                self.site.refuse(f"{type(optimizer).__name__} has no {self.key}{instead}")
            own = group[self.key]
            ours = self.new(optimizer, i, own)
            saved.append((group, own, ours))
            group[self.key] = ours
            changed = changed or not are_equal(own, ours)
        if changed:
            self.site.touched(self.what)
            self.tell([ours for _, _, ours in saved])

    def tell(self, values: list[Any]) -> None:
        """The setup facts that are other ones now, once: those of the first optimizer."""
        if self.told:
            return
        self.told = True
        if self.key == "lr":
            self.site.fact("lr", max(map(float, values)))
        elif self.key == "betas":
            self.site.fact("beta1", float(values[0][0]))
            self.site.fact("beta2", float(values[0][1]))
            self.site.fact("momentum", float(values[0][0]))
        else:
            self.site.fact(self.key, float(values[0]))

    def leave(self, optimizer: Optimizer) -> None:
        """What the script has written in the meantime stays."""
        for group, own, ours in self.saved.pop(id(optimizer), ()):
            if group.get(self.key) is ours:
                group[self.key] = own


def are_equal(first: Any, second: Any) -> bool:
    """Whether two settings are equal; they may be tensors with one element, or tuples of such."""
    if isinstance(first, tuple | list):
        return len(first) == len(second) and all(map(are_equal, first, second))
    return bool(first == second)


def cast_like(own: Any, value: float) -> Any:
    """A value in the type of the script's own: a rate may be kept as a tensor."""
    full = getattr(own, "new_full", None)
    return value if full is None else full((), value)
