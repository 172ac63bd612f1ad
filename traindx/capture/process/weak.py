"""References that keep nothing alive: what a script frees is freed at the same moment as in a plain run."""

from __future__ import annotations

import inspect
import sys
import weakref
from collections.abc import Callable, Mapping
from types import FrameType
from typing import Any

OWN = 3  # references to a table of variables: the frame's, ours, and that of whoever counts them


def reference(thing: Any, gone: Callable[[Any], None] | None = None) -> Callable[[], Any]:
    """A weak reference, and `gone` is called when the thing is. Some things cannot have one (a tuple of
    JAX's states): those are held."""
    try:
        return weakref.ref(thing, gone)
    except TypeError:
        return lambda: thing


def variables_of(frame: FrameType) -> Mapping[str, Any]:
    """Names and values in a function. Before Python 3.13 its table of them stays with the frame, and would
    hold what the function frees: it is emptied, unless the script itself has asked for it (`locals()`)."""
    there = frame.f_locals
    if type(there) is not dict or not frame.f_code.co_flags & inspect.CO_OPTIMIZED:
        return there
    found = dict(there)
    if sys.getrefcount(there) <= OWN:
        there.clear()
    return found


class LiveIds(set[int]):
    """Ids of objects that are alive: another object may get an id again, and is then not in here."""

    def __init__(self) -> None:
        super().__init__()
        self._references: dict[int, Callable[[], Any]] = {}

    def remember(self, thing: Any) -> None:
        """Add the id of a thing for as long as it lives."""
        place = id(thing)
        if place not in self:
            self.add(place)
            self._references[place] = reference(thing, lambda _: self._forget(place))

    def _forget(self, place: int) -> None:
        self.discard(place)
        self._references.pop(place, None)
