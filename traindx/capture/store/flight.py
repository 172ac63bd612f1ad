"""The flight recorder: the last few hundred steps, whole, in memory that is taken once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

STEPS = 512
COLUMNS = 32

Reading = tuple[str, Any, Any]  # kind, what it is about, values


class Flight:
    """A ring of steps: their scalars (at most COLUMNS names) and the readings that were made anyway
    (gradient norms). Takes STEPS * COLUMNS * 9 bytes, and eight a reading's value and step."""

    def __init__(self, steps: int = STEPS) -> None:
        self._size = steps
        self._steps = np.zeros(steps, np.int64)
        self._times = np.zeros(steps)
        self._whole = np.zeros(steps, bool)
        self._values = np.zeros((steps, COLUMNS))
        self._given = np.zeros((steps, COLUMNS), bool)
        self._readings: list[Sequence[Reading]] = [()] * steps
        self._names: dict[str, int] = {}
        self._last: tuple[tuple[str, ...], list[int]] = ((), [])
        self._count = 0

    def add(
        self, step: int, at: float, scalars: Mapping[str, float], readings: Sequence[Reading], written: bool
    ) -> None:
        """One step; `written`: its scalars are on disk already."""
        row = self._count % self._size
        self._count += 1
        self._steps[row], self._times[row], self._whole[row] = step, at, written
        self._readings[row] = readings
        if not written:
            places = self._places(tuple(scalars))
            self._given[row] = False
            self._given[row, places] = True
            self._values[row, places] = list(scalars.values())[: len(places)]

    def _places(self, names: tuple[str, ...]) -> list[int]:
        """The columns of names; those that no column is left for are at the end and have none."""
        if names != self._last[0]:
            places = []
            for name in names:
                if name not in self._names and len(self._names) == COLUMNS:
                    break
                places.append(self._names.setdefault(name, len(self._names)))
            self._last = names, places
        return self._last[1]

    def empty(self) -> Iterator[tuple[int, float, dict[str, float], Sequence[Reading]]]:
        """Hand over all steps, oldest first, and forget them: step, time, the scalars that are not
        on disk, the readings."""
        rows = range(max(0, self._count - self._size), self._count)
        for row in (r % self._size for r in rows):
            line, given = self._values[row], self._given[row]
            scalars = (
                {} if self._whole[row] else {n: float(line[i]) for n, i in self._names.items() if given[i]}
            )
            yield int(self._steps[row]), float(self._times[row]), scalars, self._readings[row]
        self._count = 0
        self._readings = [()] * self._size
