"""The writer of the native store (docs/store.md): rows in memory, appended as whole batches."""

from __future__ import annotations

import contextlib
import errno
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from json import dumps  # the function itself: a script may replace it in its module
from pathlib import Path
from typing import Any

import numpy as np

from traindx.atomic_write import make_folder
from traindx.capture.process.guard import say
from traindx.capture.store.stream import Batch, Part, Words, batch, schema
from traindx.capture.store.thinning import Closed, thin_to_fit
from traindx.redaction import redact_facts, redact_text
from traindx.vocabulary import Event

SCHEMA = "traindx.store/1"
PARTS = 8  # parts that a budget is divided into
FLUSH_ROWS, FLUSH_SECONDS = 4096, 2.0
FLUSH_FIRST, FLUSH_SHARE = (
    0.02,
    0.5,
)  # seconds after the first flush; of a young run, at most this share is in memory
MOST_WAITING = 1 << 20  # values kept while the disk takes none (8 MiB)
MOST_EVENTS = 5000
FLIGHT = 1_000_000  # part numbers from here on hold flight recorders
RESERVE = 4 << 20  # bytes that are given back when memory runs out, to write that it did
FIRST, LONGEST = 1.0, 60.0  # seconds until the second try, and at most between two


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

    Nothing raises because of the disk or for want of memory: what cannot be written is kept for a
    while, said once on stderr, and tried again less and less often. A forked child writes nothing."""

    def __init__(
        self, folder: Path, *, budget: int, rank: int = 0, patience: Patience | None = None
    ) -> None:
        import pyarrow.ipc  # noqa: F401 - takes 0.1 s: now, not in the middle of a step

        self.folder, self.rank, self.budget = folder, rank, budget
        make_folder(self.folder)
        self._pid = os.getpid()
        self._rows = _Rows()
        self._signals, self._sets = Words(), Words()
        self._sets[""] = 0  # of signals of the whole model
        self._part: Part | None = None
        self._closed: list[Closed] = []
        self._number, self._flights = 0, 0
        self._events: list[str] = []
        self._events_written = 0
        self._patience = patience or Patience(folder)
        self._reserve = np.zeros(
            0 if patience else RESERVE, np.uint8
        )  # address space: no page of it is touched
        self._lost: list[int] = []  # first and last step of measurements that were given up
        self._begun = self._due = time.monotonic()
        self._started = time.time()
        self._setup = self._setup_written = b""

    @property
    def ours(self) -> bool:
        """Whether this is the process that the recorder was made in."""
        return self._pid == os.getpid()

    def scalars(self, step: int, at: float, values: Mapping[str, float]) -> None:
        """Scalar signals of one step; `at` in seconds since the epoch."""
        rows, count = self._rows, len(values)
        rows.steps += [step] * count
        rows.times += [at] * count
        rows.signals += map(self._signals.__getitem__, values)
        rows.modules += [0] * count
        rows.widths += [1] * count
        rows.values += values.values()

    def panel(self, step: int, at: float, signal: str, modules: str, values: Sequence[float]) -> None:
        """A per-module signal; `modules` joined by line feeds, in the order of `values`."""
        rows = self._rows
        rows.steps.append(step)
        rows.times.append(at)
        rows.signals.append(self._signals[signal])
        rows.modules.append(self._sets[modules])
        rows.widths.append(len(values))
        rows.values += values

    def event(self, event: Event, at: float) -> None:
        if self._events_written + len(self._events) < MOST_EVENTS:
            written = {
                "kind": event.kind,
                "message": redact_text(event.message),
                "step": event.step,
                "time": at,
            }
            self._events.append(dumps({**written, "place": event.place, "code": event.code}) + "\n")

    def due(self) -> bool:
        """Whether enough has gathered, or waited long enough, to be written."""
        return len(self._rows.steps) >= FLUSH_ROWS or time.monotonic() >= self._due

    def flush(self) -> None:
        """Write all waiting rows and events, unless the disk refused a moment ago."""
        now = time.monotonic()
        self._due = now + min(FLUSH_SECONDS, max(FLUSH_FIRST, FLUSH_SHARE * (now - self._begun)))
        if not self.ours:
            self._rows, self._events = _Rows(), []
        elif self._patience.may_try():
            self._try(self._write_events, self._write_rows, self._write_setup)
        if len(self._rows.values) > MOST_WAITING:
            self._lost = [(self._lost or self._rows.steps)[0], self._rows.steps[-1]]
            self._rows = _Rows()

    def make_room(self) -> None:
        """Memory has run out: give back what was set aside for this moment."""
        self._reserve = np.zeros(0, np.uint8)

    def _try(self, *writes: Callable[[], bool]) -> None:
        """Write. Whatever a failure leaves is whole, and waits for the next try."""
        wrote = False
        refused: OSError | MemoryError | None = None
        for write in writes:
            try:
                wrote |= write()
            except OSError as error:
                refused = error
            except MemoryError as error:  # in the middle of a batch: its stream goes no further
                self.make_room()
                self._end_part()
                refused = error
        if refused is not None:
            self._patience.refused(refused)
        elif wrote:
            self._patience.reset()

    def setup(self, known: Mapping[str, Any]) -> None:
        """Replace setup.json: `known` holds framework, script, versions and facts."""
        if self.rank or not self.ours:
            return
        document = {"schema": SCHEMA, "started": self._started, **redact_facts(dict(known))}
        text = dumps(document, indent=1, default=str).encode()
        self._setup = text
        if self._patience.may_try():
            self._try(self._write_setup)

    def _write_setup(self) -> bool:
        if self._setup == self._setup_written:
            return False
        aside = self.folder / f"setup.json.{self._pid}"
        try:
            aside.write_bytes(self._setup)
            os.replace(aside, self.folder / "setup.json")
        except OSError:
            with contextlib.suppress(OSError):
                aside.unlink()
            raise
        self._setup_written = self._setup
        return True

    def flight(self) -> Recorder:
        """A recorder for steps before those that are written already (in a separate part)."""
        other = Recorder(self.folder, budget=self.budget, rank=self.rank, patience=self._patience)
        other._number = FLIGHT + self._flights
        self._flights += 1
        return other

    def close(self) -> None:
        """Write everything and the end mark. Idempotent."""
        self.make_room()
        if self.ours:
            self._try(self._write_events, self._write_rows, self._write_setup, self._write_end)
        self._end_part()

    def _write_events(self) -> bool:
        if self._lost:
            message = "the disk took nothing for so long that steps {} to {} are not recorded".format(
                *self._lost
            )
            self._lost = []
            self.event(Event("note", message, None, "", "unwritten"), time.time())
        if not self._events:
            return False
        path = self.folder / f"events-{self.rank}-{self._pid}.jsonl"
        text = "".join(self._events).encode()
        with open(path, "ab", buffering=0) as file:
            size = file.tell()
            try:
                if file.write(text) != len(text):
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            except OSError:
                with contextlib.suppress(OSError):
                    file.truncate(size)
                raise
        self._events_written += len(self._events)
        self._events = []
        return True

    def _write_rows(self) -> bool:
        if self._part is not None and self._part.left:
            self._take(None)
        rows = self._rows
        if not rows.steps:
            return False
        part = self._opened()
        made = batch(
            schema(self.rank),
            np.array(rows.steps, np.int64),
            np.array(rows.times, np.float64),
            (rows.signals, self._signals.array()),
            (rows.modules, self._sets.array()),
            rows.widths,
            np.array(rows.values, np.float64),
        )
        self._rows = _Rows()
        self._take(made)
        if part.size * PARTS >= self.budget and part is self._part:
            self._turn(part)
        return True

    def _take(self, made: Batch | None) -> None:
        """Write a batch, or what the part has not taken yet. Where a file may not grow (ulimit -f),
        another one goes on."""
        part = self._opened()
        try:
            part.write(made) if made is not None else part.drain()
        except OSError as error:
            if error.errno != errno.EFBIG or not part.size:
                raise
            left = list(part.left)
            self._end_part()
            for waiting in left:
                self._opened().write(waiting)

    def _write_end(self) -> bool:
        if self._part is None:
            return False
        self._part.close()
        return True

    def _opened(self) -> Part:
        if self._part is None:
            self._part = Part(self._next(), self.rank)
            self._number += 1
        return self._part

    def _end_part(self) -> None:
        """Go no further with a part; what is in it stays."""
        if self._part is not None:
            self._part.abandon()
            if self._part.size:
                self._closed.append(Closed(self._part.path, self._part.size))
        self._part = None

    def _next(self) -> Path:
        """The file of the next part; the first has no number."""
        suffix = f".{self._number}" if self._number else ""
        return self.folder / f"steps-{self.rank}-{self._pid}{suffix}.arrows"

    def _turn(self, part: Part) -> None:
        """Close a full part, and thin old ones until the next fits next to a copy that is being made."""
        try:
            part.close()
        finally:
            self._end_part()
        self._closed = thin_to_fit(
            self._closed, self.budget - 2 * part.size, self.budget // PARTS, self.rank
        )


class Patience:
    """One for all that a process writes into a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._wait, self._next = FIRST, 0.0
        self._said = False

    def may_try(self) -> bool:
        return time.monotonic() >= self._next

    def refused(self, error: OSError | MemoryError) -> None:
        """Something could not be written."""
        self._next = time.monotonic() + self._wait
        self._wait = min(2 * self._wait, LONGEST)
        if not self._said:
            self._said = True
            why = getattr(error, "strerror", None) or str(error) or "out of memory"
            say(
                f"{self.folder} cannot be written ({why}); the training goes on, and so do the attempts to write"
            )

    def reset(self) -> None:
        """Something was written."""
        self._wait, self._next = FIRST, 0.0
