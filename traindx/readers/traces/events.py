"""The events of a Chrome trace, one by one: a document of gigabytes is never held as a whole."""

from __future__ import annotations

import codecs
import json
import re
from array import array
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np

from traindx.errors import NotALog
from traindx.features.performance.intervals import Stretches
from traindx.readers.files.text_blocks import chunks
from traindx.readers.raw import Source
from traindx.vocabulary import Event, Floats, Ints

LIST = re.compile(r'"traceEvents"\s*:\s*\[')
NEXT = re.compile(r"[\s,]*")
OBJECT = re.compile(r'\{\s*"(?:ph|name|cat|pid|tid|ts)"')
LARGEST = 1 << 22  # characters of one event; what is longer is damage
PREAMBLE = 1 << 24  # characters before the events
TOLERATED = 1000  # damaged events that are passed over
MOST = 20_000_000  # events that are kept
DECODER = json.JSONDecoder()
BAD = (ValueError, RecursionError)


class Text:
    """A window on the decoded bytes of a trace: `text[at:]` is what has not been taken yet."""

    def __init__(self, source: Source, damage: list[Event]) -> None:
        self.pieces, self.decoder = chunks(source, damage), codecs.getincrementaldecoder("utf-8")("replace")
        self.text, self.at, self.passed = "", 0, 0

    def more(self) -> bool:
        """Take in the next piece; False at the end."""
        piece = next(self.pieces, None)
        if piece is None:
            return False
        self.passed += self.at
        self.text = self.text[self.at :] + self.decoder.decode(piece)
        self.at = 0
        return True

    @property
    def place(self) -> str:
        return f"character {self.passed + self.at}"

    def begin(self) -> bool:
        """Go to the first event; False where there is no list of events."""
        while (found := LIST.search(self.text, self.at)) is None:
            if len(self.text) > PREAMBLE or not self.more():
                return False
        self.at = found.end()
        return True


def events(source: Source, damage: list[Event]) -> Iterator[dict[str, Any]]:
    """The trace's events in order; what is damaged is passed over and reported in `damage`.

    Errors: NotALog where there is no list of events."""
    text = Text(source, damage)
    if not text.begin():
        raise NotALog(source.name, "no list of trace events in it")
    skipped = 0
    while True:
        text.at = NEXT.match(text.text, text.at).end()  # type: ignore[union-attr]
        if text.at >= len(text.text):
            if text.more():
                continue
            damage.append(Event("parse-warning", "the trace ends in the middle", place=text.place))
            return
        if text.text[text.at] == "]":
            break
        try:
            value, text.at = DECODER.raw_decode(text.text, text.at)
        except BAD:
            if len(text.text) - text.at < LARGEST and text.more():
                continue
            skipped += 1
            if skipped > TOLERATED or not passed_over(text):
                damage.append(
                    Event("parse-warning", "the trace is damaged or cut from here on", place=text.place)
                )
                return
            continue
        if isinstance(value, dict):
            yield value
    if skipped:
        damage.append(Event("parse-warning", f"{skipped} damaged events were left out"))


def passed_over(text: Text) -> bool:
    """Go on to the next event behind a damaged one."""
    found = OBJECT.search(text.text, text.at + 1)
    while found is None:
        text.at = max(text.at, len(text.text) - 64)
        if not text.more():
            return False
        found = OBJECT.search(text.text, text.at)
    text.at = found.start()
    return True


KINDS = {
    "cpu_op": "host", "operator": "host", "user_annotation": "host",
    "kernel": "kernel", "gpu_memcpy": "copy", "memcpy": "copy", "gpu_memset": "kernel", "memset": "kernel",
    "cuda_runtime": "runtime", "runtime": "runtime", "cuda_driver": "runtime", "hip_runtime": "runtime",
    "xpu_runtime": "runtime",
}  # fmt: skip
PROGRAM = ("step", "operator", "data", "compile")  # kinds that only profiles of XLA have
CODES = {kind: code for code, kind in enumerate((*dict.fromkeys(KINDS.values()), *PROGRAM))}


class Columns:
    """The events that have a time, as arrays: 29 bytes each. `names` and `threads` list what the numbers in
    `name[n]` and `thread[n]` mean; times are in seconds since the first event."""

    def __init__(self) -> None:
        self.names: dict[str, int] = {}
        self.threads: dict[tuple[object, object], int] = {}
        self._columns: tuple[array[Any], ...] = (array("b"), array("i"), array("i"), array("d"), array("d"))
        self.memory: list[tuple[float, float]] = []  # (when, bytes in use on the accelerator)

    def take(self, event: dict[str, Any]) -> None:
        """Keep an event that has a duration, or reports memory."""
        kind = KINDS.get(str(event.get("cat", "")).lower())
        at, args = as_real_number(event.get("ts")), event.get("args")
        if at is None:
            return
        if kind is None or event.get("ph") != "X":
            if event.get("name") == "[memory]" and isinstance(args, dict) and args.get("Device Type") == 1:
                used = as_real_number(args.get("Total Allocated"))
                self.memory += [] if used is None else [(at, used)]
            return
        length = as_real_number(event.get("dur")) or 0.0
        thread = thread_key((event.get("pid"), event.get("tid")))
        self.add(kind, str(event.get("name", "")), thread, at, max(length, 0.0))

    def add(self, kind: str, name: str, thread: tuple[object, object], at: float, length: float) -> None:
        """Keep an event; times in microseconds."""
        row = (CODES[kind], self.names.setdefault(name[:200], len(self.names)),
               self.threads.setdefault(thread, len(self.threads)), at, length)  # fmt: skip
        for column, value in zip(self._columns, row, strict=True):
            column.append(value)

    def __len__(self) -> int:
        return len(self._columns[0])

    def table(self) -> Table:
        """The arrays, in order of time."""
        kind, name, thread, at, length = (np.frombuffer(c, dtype=c.typecode) for c in self._columns)
        finite = np.flatnonzero(np.isfinite(at) & np.isfinite(length))
        order = finite[np.argsort(at[finite], kind="stable")]
        first = float(at[order[0]]) if len(order) else 0.0
        starts = (at[order] - first) / 1e6
        when = np.array([(m[0] - first) / 1e6 for m in self.memory]), np.array([m[1] for m in self.memory])
        return Table(
            list(self.names),
            kind[order],
            name[order],
            thread[order],
            starts,
            starts + length[order] / 1e6,
            when,
        )


def thread_key(thread: tuple[object, object]) -> tuple[object, object]:
    """Process and thread of an event, of any type."""
    return tuple(part if isinstance(part, (int, str)) else str(part) for part in thread)  # type: ignore[return-value]


def as_real_number(value: object) -> float | None:
    """A number, perhaps written as text; None for anything else."""
    try:
        return float(value) if isinstance(value, (int, float, str)) else None
    except (ValueError, OverflowError):
        return None


class Table:
    """`name[n]` is an index into `names`; `starts[n]` and `stops[n]` in seconds, ascending starts; `memory`:
    when, and bytes in use on the accelerator."""

    def __init__(
        self, names: list[str], kind: Ints, name: Ints, thread: Ints, starts: Floats, stops: Floats,
        memory: tuple[Floats, Floats],
    ) -> None:  # fmt: skip
        self.names, self.kind, self.name, self.thread = names, kind, name, thread
        self.starts, self.stops, self.memory = starts, stops, memory

    def rows_of_kind(self, kind: str) -> Ints:
        """The rows of a kind."""
        return np.flatnonzero(self.kind == CODES[kind])

    @cached_property
    def kernels(self) -> Ints:
        """Everything that an accelerator did, copies too."""
        return np.sort(np.concatenate([self.rows_of_kind("kernel"), self.rows_of_kind("copy")]))

    @cached_property
    def on_device(self) -> bool:
        """Whether an accelerator computed anything."""
        return len(self.rows_of_kind("kernel")) > 0

    def stretches(self, rows: Ints) -> Stretches:
        return Stretches(self.starts[rows], self.stops[rows])

    def named(self, rows: Ints, *beginnings: str) -> Ints:
        """Those of the rows whose name begins so."""
        wanted = np.array([name.startswith(beginnings) for name in self.names], dtype=bool)
        return rows[wanted[self.name[rows]]] if len(rows) else rows


def columns_of(source: Source, damage: list[Event]) -> Columns:
    """Everything in a trace that has a time. Errors: NotALog."""
    found = Columns()
    for event in events(source, damage):
        found.take(event)
        if len(found) >= MOST:
            damage.append(Event("parse-warning", f"only the first {MOST:,} events of the trace were read"))
            break
    return found
