"""The flight recorder: the last few hundred steps, whole, in memory that is taken once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

STEPS = 512
COLUMNS = 32

Vector = np.ndarray[Any, np.dtype[np.float32]]


class Flight:
    """A ring of steps: their scalars (at most COLUMNS names) and the gradient norm of each module.
    Takes STEPS * (COLUMNS * 8 + modules * 4) bytes."""

    def __init__(self, steps: int = STEPS) -> None:
        self._size = steps
        self._steps = np.zeros(steps, np.int64)
        self._times = np.zeros(steps)
        self._values = np.zeros((steps, COLUMNS))
        self._given = np.zeros((steps, COLUMNS), bool)
        self._names: dict[str, int] = {}
        self._norms: Vector = np.zeros((steps, 0), np.float32)
        self._whole = np.zeros(steps, bool)
        self._count = 0

    def add(self, step: int, at: float, scalars: Mapping[str, float], norms: Any, written: bool) -> None:
        """One step; `norms[modules]` or None; `written`: its scalars are on disk already."""
        row = self._count % self._size
        self._count += 1
        self._steps[row], self._times[row], self._whole[row] = step, at, written
        line, given = self._values[row], self._given[row]
        given.fill(False)
        for name, value in scalars.items():
            place = self._names.get(name)
            if place is None:
                if len(self._names) == COLUMNS:
                    continue
                place = self._names[name] = len(self._names)
            line[place], given[place] = value, True
        if norms is not None:
            if self._norms.shape[1] != len(norms):
                self._norms = np.full((self._size, len(norms)), np.nan, np.float32)
            self._norms[row] = norms
        elif self._norms.shape[1]:
            self._norms[row] = np.nan

    def empty(self) -> Iterator[tuple[int, float, dict[str, float], list[float]]]:
        """Hand over all steps, oldest first, and forget them: step, time, the scalars that are not
        on disk, the gradient norms."""
        rows = range(max(0, self._count - self._size), self._count)
        for row in (r % self._size for r in rows):
            line, given = self._values[row], self._given[row]
            scalars = {n: float(line[i]) for n, i in self._names.items() if given[i]}
            norms = self._norms[row].tolist() if self._norms.shape[1] else []
            yield int(self._steps[row]), float(self._times[row]), {} if self._whole[row] else scalars, norms
        self._count = 0
