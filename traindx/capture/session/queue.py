"""Steps that wait to be handed on: numbers on an accelerator are fetched together, in one copy,
and on the host many steps in a row cost a fraction of what each costs between two steps of a training,
when nothing of it is in the processor's caches."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Vector = np.ndarray[Any, np.dtype[np.float64]]
HERE = (
    float,
    int,
    list,
    np.ndarray,
    np.generic,
)  # anything else is on a device, from which its backend fetches it
TOGETHER = 32  # steps that are handed on together
PATIENCE = 0.25  # seconds that a step on the host waits for others


@dataclass
class Row:
    """One step. `scalars`: numbers, or tensors with one element; `vectors`: by kind, with what their places
    stand for (`about`), numpy arrays, lists of numbers or one-dimensional tensors (of any framework)."""

    step: int
    at: float
    scalars: dict[str, Any] = field(default_factory=dict)
    vectors: list[tuple[str, Any, Any]] = field(default_factory=list)  # kind, about, values
    sampled: bool = False

    def waiting(self) -> list[Any]:
        """What has no value on this side yet."""
        found = [v for v in self.scalars.values() if not isinstance(v, HERE)]
        return found + [v for _, _, v in self.vectors if not isinstance(v, HERE)]


class Queue:
    """Rows in the order of steps, handed on when all their numbers are here and enough have gathered."""

    def __init__(
        self,
        finish: Callable[[Row], None],
        fetch: Callable[[list[Any]], list[Vector]],
        failed: Callable[[str, Exception], None],
    ) -> None:
        self._finish, self._fetch_all, self._failed = finish, fetch, failed
        self._rows: list[Row] = []
        self._emptied = 0.0

    def add(self, row: Row, *, device: bool, urgent: bool = False) -> None:
        """A finished step. `device`: its numbers may lie on an accelerator, and are not waited for;
        `urgent`: something is wrong, so they are looked at now."""
        self._rows.append(row)
        if urgent or len(self._rows) >= TOGETHER or (not device and row.at - self._emptied >= PATIENCE):
            self._emptied = row.at
            self.fetch()

    def _fetched(self, values: list[Any]) -> list[Vector]:
        """Numbers from a device. Where they cannot be fetched together, fetch those that can, and NaN for
        the rest."""
        try:
            return self._fetch_all(values)
        except Exception as error:  # noqa: BLE001 - a value without memory is no reason to lose the others
            if len(values) > 1:
                return [self._fetched([value])[0] for value in values]
            self._failed("a number on the accelerator", error)
            return [np.full(getattr(values[0], "shape", ()) or (1,), np.nan)]

    def fetch(self) -> None:
        """Copy what is waiting to the host, one copy a device, and hand all rows on."""
        rows, self._rows = self._rows, []
        tensors = [t for row in rows for t in row.waiting()]
        if tensors:
            values = iter(self._fetched(tensors))
            for row in rows:
                for name, value in row.scalars.items():
                    if not isinstance(value, HERE):
                        row.scalars[name] = float(next(values)[0])
                row.vectors = [(k, a, v if isinstance(v, HERE) else next(values)) for k, a, v in row.vectors]
        for row in rows:
            row.vectors = [(k, a, np.array(v) if isinstance(v, list) else v) for k, a, v in row.vectors]
            self._finish(row)
