"""Training without an optimizer object: parameters are changed by hand after each backward pass."""

import weakref
from collections.abc import Callable
from typing import Any

import torch

from traindx.capture.session import Stream
from traindx.capture.session.events import (
    ModelCalled,
    OptimizerFound,
    ParametersTrained,
    StepBegins,
    StepDue,
    StepEnds,
)

LEAVES = 10_000  # parameters that are looked for in a graph
NODES = 200_000  # of a graph are visited at most


class ByHand:
    """Takes the place of an optimizer: its one group has the parameters that get gradients, referred to
    weakly."""

    def __init__(self, parameters: list[torch.Tensor]) -> None:
        self._parameters = [weakref.ref(parameter) for parameter in parameters]
        self.defaults: dict[str, Any] = {}
        self.state: dict[torch.Tensor, Any] = {}

    @property
    def param_groups(self) -> list[dict[str, Any]]:
        return [{"params": [p for known in self._parameters if (p := known()) is not None]}]


class Manual:
    """A step has been taken when, at the next backward pass, the parameters have changed."""

    def __init__(self, stream: Stream, hand_on: Callable[[], None]) -> None:
        """`hand_on` reports the losses that were held back."""
        self.stream, self.hand_on = stream, hand_on
        stream.hear(ModelCalled, lambda event: self.step_if_changed() if event.training else None)
        self.optimizer: ByHand | None = None
        self.given: list[torch.Tensor] = []  # parameters whose gradients were asked for explicitly
        self.marks: tuple[list[int], list[Any]] = ([], [])
        # Whether steps change the versions, so that no values need to be copied to the host; None until the first.
        # Later changes show nothing: `load_state_dict` changes the versions where steps are made on `.data`.
        self.by_version: bool | None = None
        self.begun = False

    def backward_begins(self, loss: torch.Tensor) -> None:
        if self.optimizer is None:
            self.optimizer, self.given = ByHand(self.given or leaf_tensors(loss)), []
            self.stream.tell(ParametersTrained(self.optimizer.param_groups[0]["params"]))
            self.stream.tell(StepDue(self.optimizer))
        else:
            self.step_if_changed()

    def step_if_changed(self) -> None:
        if not self.begun or self.optimizer is None or self.stream.opened is None:
            return
        found = self.read_marks()
        if found == self.marks or len(found[0]) < len(self.marks[0]):  # some are freed: that is no step
            return
        if self.by_version is None:
            self.by_version = found[0] != self.marks[0]
        self.begun = False
        self.hand_on()
        self.stream.tell(StepEnds(self.optimizer))
        self.stream.scene.steps += 1
        self.stream.after_step(self.stream.scene.steps)

    def backward_ends(self) -> None:
        if self.optimizer is None:
            return
        self.marks = self.read_marks()
        if not self.begun:
            self.stream.tell(OptimizerFound(self.optimizer))
            self.stream.fact("optimizer", "by hand")
        self.stream.tell(StepBegins(self.optimizer))
        self.begun = True

    def read_marks(self) -> tuple[list[int], list[Any]]:
        """Values that change with a parameter: its version, and (for changes of `.data`) its first
        values."""
        assert self.optimizer is not None
        parameters = self.optimizer.param_groups[0]["params"]
        versions = [p._version for p in parameters]
        if self.by_version:
            return versions, []
        with torch.no_grad():
            return versions, [p.flatten()[:4].cpu().tolist() for p in parameters[:2]]

    def end(self) -> None:
        if not self.stream.scene.optimizers:
            self.step_if_changed()


def leaf_tensors(loss: torch.Tensor) -> list[torch.Tensor]:
    """The tensors that will get a gradient from `loss`, depth first."""
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
