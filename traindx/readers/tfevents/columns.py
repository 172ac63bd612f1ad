"""Where decoded scalars gather, and how they are split by name at the end."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from traindx.readers.raw import RawColumn
from traindx.vocabulary.run import Floats, Ints

FIRST = 1 << 14  # values there is room for at the beginning
Number = TypeVar("Number", bound=np.generic)
MOST_NAMES = 20_000  # further names are counted, not kept: a log with more holds no readable curves


class Columns:
    """Scalars in the order they were decoded: five growing arrays, and the names behind `ids`."""

    def __init__(self) -> None:
        self.names: dict[bytes, int] = {}
        self.unnamed = 0  # values left out because there were too many names
        self.count = 0
        self._ids: NDArray[np.uint16] = np.empty(FIRST, np.uint16)
        self._rows: Ints = np.empty(FIRST, np.int64)
        self._floats: list[Floats] = [np.empty(FIRST) for _ in range(3)]  # wall times, steps, values

    def identify(self, name: bytes) -> int:
        """The number of a name, or -1 when there are too many."""
        known = self.names.get(name)
        if known is None:
            if len(self.names) >= MOST_NAMES:
                return -1
            known = self.names[name] = len(self.names)
        return known

    def add(
        self, ids: NDArray[np.uint16], rows: Ints, walls: Floats, steps: Ints | Floats, values: Floats
    ) -> None:
        """Append `[n]` scalars; `rows` are the numbers of their records."""
        low, high = self.count, self.count + len(ids)
        if high > len(self._ids):
            self._grow(max(high, 2 * len(self._ids)))
        self._ids[low:high] = ids
        self._rows[low:high] = rows
        for own, given in zip(self._floats, (walls, steps, values), strict=True):
            own[low:high] = given
        self.count = high

    def _grow(self, size: int) -> None:
        self._ids = _grown(self._ids, self.count, size)
        self._rows = _grown(self._rows, self.count, size)
        self._floats = [_grown(a, self.count, size) for a in self._floats]

    def split(self) -> dict[str, RawColumn]:
        """One column per name, each in the order of its records. Empties this object."""
        ids = self._ids[: self.count]
        order = np.argsort(ids, kind="stable")
        rows = self._rows[order]
        bounds = np.searchsorted(ids[order], np.arange(len(self.names) + 1))
        if not _rising(rows, bounds):
            order = order[np.lexsort((rows, ids[order]))]
            rows = self._rows[order]
        self._rows = np.empty(0, np.int64)
        walls, steps, values = (self._take(i, order) for i in range(3))
        out: dict[str, RawColumn] = {}
        for name, low, high in zip(self.names, bounds, bounds[1:], strict=False):
            if low < high:
                text = name.decode("utf-8", "replace")
                while text in out:  # names that differ only in bytes that are no text
                    text += "'"
                out[text] = RawColumn(values[low:high], rows[low:high], steps[low:high], walls[low:high])
        return out

    def _take(self, which: int, order: Ints) -> Floats:
        taken: Floats = self._floats[which][order]
        self._floats[which] = np.empty(0)  # give the memory back before the next one is taken
        return taken


def _grown(array: NDArray[Number], kept: int, size: int) -> NDArray[Number]:
    out = np.empty(size, array.dtype)
    out[:kept] = array[:kept]
    return out


def _rising(rows: Ints, bounds: Ints) -> bool:
    """Whether rows never fall within a name."""
    falls = np.flatnonzero(rows[1:] < rows[:-1]) + 1
    return bool(np.isin(falls, bounds).all())
