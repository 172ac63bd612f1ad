"""Where the interventions of a run have hooked in."""

import weakref
from typing import Any

from traindx.capture.experiment.ending import Guard, Hook
from traindx.capture.session import Stream


class Hooks(Guard):
    """All hooks by place, each with the site that it is of, in the order in which they are called."""

    def __init__(self, request: dict[str, Any], stream: Stream) -> None:
        super().__init__(request, stream)
        self.early: list[tuple[Any, Hook]] = []
        self.gradients: list[tuple[Any, Hook]] = []
        self.steps: list[tuple[Any, Hook, Hook]] = []
        self.made: list[tuple[Any, Hook]] = []
        self.backwards: list[tuple[Any, Hook]] = []
        self.calls: list[tuple[Any, Hook]] = []
        self.closures: list[tuple[Any, Hook]] = []
        self.counts: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()
        self.withheld: dict[int, list[tuple[Any, Any]]] = {}  # id(optimizer) -> gradients kept from its step
        self.held_back: set[int] = set()  # ids of optimizers whose step is none yet
        self.inside_closure = False

    def count(self, optimizer: Any) -> int:
        """Steps that an optimizer has made."""
        return self.counts.get(optimizer, 0)
