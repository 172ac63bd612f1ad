"""Training without an optimizer object: parameters are changed by hand after each backward pass."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from traindx.capture.session.session import Session
    from traindx.capture.torch.discover.discovery import Discovery

LEAVES = 10_000  # parameters that are looked for in a graph
NODES = 200_000  # of a graph are visited at most


class ByHand:
    """Stands where an optimizer would: its one group holds the parameters that get gradients."""

    def __init__(self, parameters: list[torch.Tensor]) -> None:
        self.param_groups: list[dict[str, Any]] = [{"params": parameters}]
        self.defaults: dict[str, Any] = {}
        self.state: dict[torch.Tensor, Any] = {}


class Manual:
    """A step has been taken when, at the next backward pass, the parameters have changed."""

    def __init__(self, discovery: Discovery) -> None:
        self.discovery = discovery
        self.optimizer: ByHand | None = None
        self.given: list[torch.Tensor] = []  # parameters that gradients were asked of by name
        self.marks: list[Any] = []
        self.begun = False

    def backward_begins(self, loss: torch.Tensor) -> None:
        if self.optimizer is None:
            self.optimizer = ByHand(self.given or leaves(loss))
            self.discovery.models.want(self.optimizer.param_groups[0]["params"])
            self.discovery.models.search()
        else:
            self.step_if_changed()

    def step_if_changed(self) -> None:
        session, loop = self.discovery.opened, self.discovery.loop
        if self.optimizer is None or session is None or not self.begun or self.look() == self.marks:
            return
        self.begun = False
        loop.hand_on()
        session.optimizer_step_end(self.optimizer)
        self.discovery.models.fed = 0
        loop.steps += 1
        loop.discovery.after_step(loop.steps)

    def backward_ends(self, session: Session) -> None:
        if self.optimizer is None:
            return
        self.marks = self.look()
        if not self.begun:
            session.add_optimizer(self.optimizer)
            session.fact("optimizer", "by hand")
        session.optimizer_step_begin(self.optimizer)
        self.begun = True

    def look(self) -> list[Any]:
        """What changes when a parameter does: its version, and (for `.data`) its first values."""
        assert self.optimizer is not None
        parameters = self.optimizer.param_groups[0]["params"]
        with torch.no_grad():
            return [p._version for p in parameters] + [p.flatten()[:4].tolist() for p in parameters[:2]]

    def end(self) -> None:
        if not self.discovery.loop.optimizers:
            self.step_if_changed()


def leaves(loss: torch.Tensor) -> list[torch.Tensor]:
    """The tensors that will get a gradient from `loss`, in the order in which they are met."""
    found: dict[int, torch.Tensor] = {}
    seen: set[Any] = set()
    nodes = [loss.grad_fn]
    while nodes and len(seen) < NODES and len(found) < LEAVES:
        node = nodes.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        variable = getattr(node, "variable", None)
        if isinstance(variable, torch.Tensor):
            found.setdefault(id(variable), variable)
        nodes += [following for following, _ in reversed(node.next_functions)]
    return list(found.values())
