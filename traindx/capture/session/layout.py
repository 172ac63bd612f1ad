"""Which parameters there are, by the modules that own them. Of a framework it knows that parameters have
identities."""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from traindx.capture.process.patches import reference
from traindx.vocabulary import Ints


class Part(NamedTuple):
    """A parameter, its qualified name, and that of the module that holds it (its own, of a model's root). It
    is freed together with `holder`: a weak reference to a parameter itself would forbid
    `torch.utils.swap_tensors`."""

    parameter: Any
    name: str
    owner: str
    holder: Any = None


class Gone(NamedTuple):
    """What is still known of a parameter that the script has freed."""

    size: int
    trainable: bool


class Layout:
    """Parameters in the order of the models. `owner[p]` is the place in `modules` of the module that holds
    parameter p; `lost` counts those that are gone, and `let_go` is called with the first of each model."""

    def __init__(
        self,
        size: Callable[[Any], int],
        trainable: Callable[[Any], bool],
        let_go: Callable[[], None] = lambda: None,
    ) -> None:
        self._size, self._trainable, self._let_go = size, trainable, let_go
        self.parameters: list[Any] = []
        self.lost = 0
        self._holders: list[Callable[[], Any]] = []
        self.names: list[str] = []
        self.modules: list[str] = []
        self.owner: Ints = np.zeros(0, np.int64)
        self.place: dict[int, int] = {}  # by id

    def add(self, parts: Iterable[Part]) -> None:
        """Parameters of a model; one that two modules share is the first one's."""
        for parameter, name, owner, holder in parts:
            if id(parameter) in self.place:
                continue
            place = self.place[id(parameter)] = len(self.parameters)
            if holder is not None:
                self._holders.append(reference(holder, partial(self._gone, place)))
            self.parameters.append(parameter)
            self.names.append(name)
            if owner not in self.modules:
                self.modules.append(owner)
            self.owner = np.append(self.owner, self.modules.index(owner))

    def add_loose(self, parameters: Iterable[Any], optimizer: Any) -> None:
        """Parameters of an optimizer that no model has (tensors of a hand-written net)."""
        for parameter in parameters:
            own = f"{type(optimizer).__name__}.{len(self.parameters)}"
            self.add([Part(parameter, own, own, optimizer)])

    def _gone(self, place: int, _reference: Any) -> None:
        """The holder of a parameter is about to go, and the parameter with it."""
        parameter = self.parameters[place]
        self.place.pop(id(parameter), None)
        self.parameters[place] = Gone(self._size(parameter), self._trainable(parameter))
        self.lost += 1
        self._let_go()

    def alive(self) -> Iterator[tuple[int, Any]]:
        """Places and parameters of those that are not gone."""
        return ((place, p) for place, p in enumerate(self.parameters) if type(p) is not Gone)

    def size(self, place: int) -> int:
        """How many values a parameter has, or had."""
        parameter = self.parameters[place]
        return parameter.size if type(parameter) is Gone else self._size(parameter)

    def trainable(self, place: int) -> bool:
        """Whether a parameter is trained, or was."""
        parameter = self.parameters[place]
        return parameter.trainable if type(parameter) is Gone else self._trainable(parameter)

    def owner_of(self, parameter: Any) -> str | None:
        """Name of the module that owns a parameter; None where it is not known."""
        place = self.place.get(id(parameter))
        return None if place is None else self.modules[self.owner[place]]
