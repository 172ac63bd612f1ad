"""From finished rows to the store: what is written, what is kept in the flight recorder, and when something
happens that should be sampled.

The flight recorder holds the last few hundred steps, whole, in memory that is taken once.

Steps wait before they are handed on: numbers on an accelerator are fetched together, in one copy,
and on the host many steps in a row cost a fraction of what each costs between two steps of a training,
when nothing of it is in the processor's caches."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from traindx.capture.session.pace import Pace
from traindx.capture.store.recorder import Recorder
from traindx.vocabulary import ENDINGS, Event

DENSE = 50_000  # steps whose scalars are all written; then every second, fourth ...
WATCHED = ("train/loss", "grad_norm")
MEMORY = 50  # steps that the level of a watched signal remembers
JUMP = 8.0  # standard deviations above its level at which a watched signal jumps
MOST_FLIGHTS = 16


class Level:
    """Running mean and spread of one signal, to notice a jump while it happens (not to judge it)."""

    def __init__(self) -> None:
        self._mean, self._square, self._count = 0.0, 0.0, 0

    def jumps(self, value: float) -> bool:
        """Whether `value` is far above the level so far, which then includes it."""
        spread = math.sqrt(self._square)
        far = self._count > MEMORY and value - self._mean > JUMP * max(spread, 1e-3 * abs(self._mean))
        self._count += 1
        weight = max(1 / self._count, 1 / MEMORY)
        change = value - self._mean
        self._mean += weight * change
        self._square = (1 - weight) * (self._square + weight * change * change)
        return far


class Steps:
    """Takes finished rows in order. `panels` turns a reading into signals."""

    def __init__(
        self,
        recorder: Recorder,
        pace: Pace,
        panels: Callable[[str, Any, Any], Any],
        event: Callable[..., None],
    ) -> None:
        self._recorder, self._pace, self._panels, self._event = recorder, pace, panels, event
        self._flight = Flight()
        self._levels = {name: Level() for name in WATCHED}
        self._flights, self._last_flight = 0, -math.inf
        self.peak_rate = 0.0  # the highest learning rate so far
        self.first_bad: dict[str, int] = {}  # signal -> step at which it was first not finite
        self.seconds = 0.0  # spent on readings of sampled steps since it was last asked
        self.finish: Callable[[Row], None] = self.take

    def urgent(self, scalars: Mapping[str, Any]) -> bool:
        """Whether a row (whose numbers may not all be here) breaks something that was whole so far."""
        for name in WATCHED:
            value = scalars.get(name)
            if isinstance(value, float) and value - value != 0 and name not in self.first_bad:
                return True
        return False

    def take(self, row: Row) -> None:
        """Write a row whose numbers are all here."""
        scalars: Mapping[str, float] = row.scalars
        self.peak_rate = max(self.peak_rate, scalars.get("lr", 0.0))
        if row.sampled:
            self._write_panels(row)
        bad = [n for n in WATCHED if not math.isfinite(scalars.get(n, 0.0))]
        stride = 1 << max(0, (row.step // DENSE).bit_length())
        whole = row.step % stride == 0 or row.sampled or bool(bad)
        if whole:
            self._recorder.scalars(row.step, row.at, scalars)
        self._flight.add(row.step, row.at, scalars, [] if row.sampled else row.vectors, whole)
        if bad:
            self._check_gradients(row)
            self._broken(bad, row.step)
        elif any(n in scalars and level.jumps(scalars[n]) for n, level in self._levels.items()):
            self._pace.sample_next_steps(row.step)
            self.dump(row.step)
        if self._recorder.due():
            self._recorder.flush()

    def _write_panels(self, row: Row) -> None:
        began = time.perf_counter()
        for kind, about, values in row.vectors:
            for signal, modules, found in self._panels(kind, about, values):
                self._recorder.panel(row.step, row.at, signal, modules, found.tolist())
        self.seconds += time.perf_counter() - began

    def _check_gradients(self, row: Row) -> None:
        """The first step with gradients that are not finite, and the module nearest to the loss:
        backpropagation carries them on from there to all before it."""
        if "gradient" in self.first_bad:
            return
        for kind, about, values in row.vectors:
            for signal, modules, found in self._panels(kind, about, values) if kind == "gradients" else ():
                if signal != "grad_norm":
                    continue
                names = modules.split("\n")
                bad = [n for n, v in zip(names, found, strict=True) if not math.isfinite(v)]
                if bad:
                    self.first_bad["gradient"] = row.step
                    message = f"the gradients of {len(bad)} of {len(names)} modules are not finite, first {bad[-1]}"
                    self._event("note", message, "nonfinite-gradient", place=bad[-1], step=row.step)

    def _broken(self, bad: list[str], step: int) -> None:
        for name in bad:
            if name not in self.first_bad:
                self.first_bad[name] = step
                self._event("note", f"{name} is not finite", "nonfinite-first", place=name, step=step)
                self._last_flight = -math.inf
        self._pace.sample_next_steps(step)
        self.dump(step)

    def dump(self, step: float) -> None:
        """Write the flight recorder, unless it was written a moment ago or too often."""
        if self._flights >= MOST_FLIGHTS or step - self._last_flight < MEMORY:
            return
        self._flights += 1
        self._last_flight = step
        other = self._recorder.flight()
        for at_step, at, scalars, vectors in self._flight.empty():
            if scalars:
                other.scalars(at_step, at, scalars)
            for kind, about, values in vectors:
                for signal, modules, found in self._panels(kind, about, values):
                    other.panel(at_step, at, signal, modules, found.tolist())
        other.close()

    def note(self, event: Event, at: float) -> None:
        """An event; those that end a run write the flight recorder."""
        self._recorder.event(event, at)
        if event.kind in ENDINGS:
            self._recorder.flush()
            self.dump(math.inf)


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
