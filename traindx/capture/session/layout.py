"""Which parameters there are, by the modules that own them. Of a framework it knows that parameters have identities."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from traindx.vocabulary.run import Ints


class Part(NamedTuple):
    """A parameter, its qualified name, and that of the module that holds it (its own, of a model's root)."""

    parameter: Any
    name: str
    owner: str


class Layout:
    """Parameters in the order of the models. `owner[p]` is the place in `modules` of the module that holds
    parameter p."""

    def __init__(self) -> None:
        self.parameters: list[Any] = []
        self.names: list[str] = []
        self.modules: list[str] = []
        self.owner: Ints = np.zeros(0, np.int64)
        self.place: dict[int, int] = {}  # by id

    def add(self, parts: Iterable[Part]) -> None:
        """Parameters of a model; one that two modules share is the first one's."""
        for parameter, name, owner in parts:
            if id(parameter) in self.place:
                continue
            self.place[id(parameter)] = len(self.parameters)
            self.parameters.append(parameter)
            self.names.append(name)
            if owner not in self.modules:
                self.modules.append(owner)
            self.owner = np.append(self.owner, self.modules.index(owner))

    def add_loose(self, parameters: Iterable[Any], name: str) -> None:
        """Parameters of an optimizer that no model has (tensors of a hand-written net)."""
        for parameter in parameters:
            own = f"{name}.{len(self.parameters)}"
            self.add([Part(parameter, own, own)])

    def owner_of(self, parameter: Any) -> str | None:
        """Name of the module that owns a parameter; None where it is not known."""
        place = self.place.get(id(parameter))
        return None if place is None else self.modules[self.owner[place]]
