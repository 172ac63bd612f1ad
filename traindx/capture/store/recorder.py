"""The writer of the native store (docs/store.md): rows in memory, appended as whole batches."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from traindx.capture.process.guard import say
from traindx.capture.store.stream import Part, Words, batch, schema
from traindx.capture.store.thinning import Closed, relieved
from traindx.vocabulary.run import Event

SCHEMA = "traindx.store/1"
PARTS = 8  # parts that a budget is divided into
FLUSH_ROWS, FLUSH_SECONDS = 4096, 2.0
MOST_WAITING = 1 << 20  # values kept while the disk takes none (8 MiB)
MOST_EVENTS = 5000
FLIGHT = 1_000_000  # part numbers from here on hold flight recorders


@dataclass
class _Rows:
    """Measurements that are not written yet; one entry a measurement."""

    steps: list[int] = field(default_factory=list)
    times: list[float] = field(default_factory=list)
    signals: list[int] = field(default_factory=list)
    modules: list[int] = field(default_factory=list)
    widths: list[int] = field(default_factory=list)
    values: list[float] = field(default_factory=list)


class Recorder:
    """Writes one process's stream and events to `folder`, and its setup when `rank` is 0.

    Nothing raises because of the disk: what cannot be written is kept for a while, said once on
    stderr, and tried again. A forked child writes nothing."""

    def __init__(self, folder: Path, *, budget: int, rank: int = 0) -> None:
        import pyarrow.ipc  # noqa: F401 - takes 0.1 s: now, not in the middle of a step

        self.folder, self.rank, self.budget = folder, rank, budget
        self.folder.mkdir(parents=True, exist_ok=True)
        self._pid = os.getpid()
        self._rows = _Rows()
        self._signals, self._sets = Words(), Words()
        self._sets("")
        self._part: Part | None = None
        self._closed: list[Closed] = []
        self._number, self._flights = 0, 0
        self._events: list[str] = []
        self._events_written = 0
        self._warned = False
        self._due = time.monotonic() + FLUSH_SECONDS
        self._started = time.time()
        self._setup: bytes = b""

    @property
    def ours(self) -> bool:
        """Whether this is the process that the recorder was made in."""
        return self._pid == os.getpid()

    def scalars(self, step: int, at: float, values: Mapping[str, float]) -> None:
        """Scalar signals of one step; `at` in seconds since the epoch."""
        rows, count = self._rows, len(values)
        rows.steps += [step] * count
        rows.times += [at] * count
        rows.signals += map(self._signals, values)
        rows.modules += [0] * count
        rows.widths += [1] * count
        rows.values += values.values()

    def panel(self, step: int, at: float, signal: str, modules: str, values: Sequence[float]) -> None:
        """A per-module signal; `modules` joined by line feeds, in the order of `values`."""
        rows = self._rows
        rows.steps.append(step)
        rows.times.append(at)
        rows.signals.append(self._signals(signal))
        rows.modules.append(self._sets(modules))
        rows.widths.append(len(values))
        rows.values += values

    def event(self, event: Event, at: float) -> None:
        if self._events_written + len(self._events) < MOST_EVENTS:
            told = {"kind": event.kind, "message": event.message, "step": event.step, "time": at}
            self._events.append(json.dumps({**told, "place": event.place, "code": event.code}) + "\n")

    def due(self) -> bool:
        """Whether enough has gathered, or waited long enough, to be written."""
        return len(self._rows.steps) >= FLUSH_ROWS or time.monotonic() >= self._due

    def flush(self) -> None:
        """Write all waiting rows and events."""
        self._due = time.monotonic() + FLUSH_SECONDS
        if not self.ours:
            self._rows, self._events = _Rows(), []
            return
        try:
            self._write_events()
            self._write_rows()
        except OSError as error:
            self._unwritable(error)

    def setup(self, known: Mapping[str, Any]) -> None:
        """Replace setup.json: `known` holds framework, script, versions and facts."""
        if self.rank or not self.ours:
            return
        told = {"schema": SCHEMA, "started": self._started, **known}
        text = json.dumps(told, indent=1, default=str).encode()
        if text == self._setup:
            return
        aside = self.folder / f"setup.json.{self._pid}"
        try:
            aside.write_bytes(text)
            os.replace(aside, self.folder / "setup.json")
            self._setup = text
        except OSError as error:
            aside.unlink(missing_ok=True)
            self._unwritable(error)

    def flight(self, rows: Recorder | None = None) -> Recorder:
        """A recorder for steps that lie before what is written already (a part of its own)."""
        other = Recorder(self.folder, budget=self.budget, rank=self.rank)
        other._number = FLIGHT + self._flights
        self._flights += 1
        return other

    def close(self) -> None:
        """Write everything and the end mark. Idempotent."""
        self.flush()
        if self._part is not None and self.ours:
            try:
                self._part.close()
            except OSError as error:
                self._unwritable(error)
        elif self._part is not None:
            self._part.abandon()
        self._part = None

    def _write_events(self) -> None:
        if not self._events:
            return
        path = self.folder / f"events-{self.rank}-{self._pid}.jsonl"
        text = "".join(self._events).encode()
        with open(path, "ab", buffering=0) as file:
            size = file.tell()
            if file.write(text) != len(text):
                file.truncate(size)
                raise OSError(28, "No space left on device")
        self._events_written += len(self._events)
        self._events = []

    def _write_rows(self) -> None:
        rows = self._rows
        if not rows.steps:
            return
        if self._part is None:
            self._part = Part(self._next(), self.rank)
        made = batch(
            schema(self.rank),
            np.array(rows.steps, np.int64),
            np.array(rows.times, np.float64),
            (rows.signals, self._signals.array()),
            (rows.modules, self._sets.array()),
            rows.widths,
            np.array(rows.values, np.float64),
        )
        self._part.write(made)
        self._rows = _Rows()
        if self._part.size * PARTS >= self.budget:
            self._turn(self._part)

    def _next(self) -> Path:
        """The file of the next part; the first has no number."""
        suffix = f".{self._number}" if self._number else ""
        self._number += 1
        return self.folder / f"steps-{self.rank}-{self._pid}{suffix}.arrows"

    def _turn(self, part: Part) -> None:
        """Close a full part, and thin old ones until the next fits beside a copy being made."""
        self._part = None
        part.close()
        self._closed.append(Closed(part.path, part.size))
        self._closed = relieved(self._closed, self.budget - 2 * part.size, self.budget // PARTS, self.rank)

    def _unwritable(self, error: OSError) -> None:
        """Say once that the disk takes nothing; go on with a new part when it does again."""
        if self._part is not None:
            self._part.abandon()
            if self._part.size:
                self._closed.append(Closed(self._part.path, self._part.size))
            self._part = None
        if not self._warned:
            self._warned = True
            say(f"{self.folder} cannot be written ({error.strerror or error}); the training goes on, unrecorded")
        if len(self._rows.values) > MOST_WAITING:
            self._rows = _Rows()
