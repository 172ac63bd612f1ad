"""What a format's reader hands over: columns in the order of the file, nothing interpreted.

Reading is two steps. A format file turns bytes into a `RawLog` (this module's shapes); then
`assemble` finds the step axis, splits restarts, joins resumes, maps names to canonical signals
and builds frozen `Run`s. A format file therefore knows only its format.
"""

from __future__ import annotations

import gzip
import io
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

import numpy as np

from traindx.vocabulary.run import Event, Floats, Ints

HEAD_BYTES = 65536  # how much of a file a sniffer sees


@dataclass(frozen=True)
class Source:
    """Bytes to be read: a file (perhaps .gz), or bytes that are already in memory (stdin).

    `name` is shown to the user; `head` is the (decompressed) first 64 KiB.
    """

    name: str
    path: Path | None = None
    data: bytes | None = None
    head: bytes = b""

    def open(self) -> BinaryIO:
        """Open the decompressed bytes for reading."""
        if self.data is not None:
            return io.BytesIO(self.data)
        assert self.path is not None
        with open(self.path, "rb") as probe:
            compressed = probe.read(2) == b"\x1f\x8b"
        return gzip.open(self.path, "rb") if compressed else open(self.path, "rb")  # type: ignore[return-value]

    def read_bytes(self) -> bytes:
        with self.open() as stream:
            return stream.read()


@dataclass
class RawColumn:
    """One logged name. `values[n]` (NaN where the log says NaN; a missing cell is simply not
    there), `rows[n]` ascending order in the file (same row = logged together), `steps[n]` when the
    format gives every value its own step, `times[n]` seconds since the epoch."""

    values: Floats
    rows: Ints
    steps: Floats | None = None
    times: Floats | None = None


@dataclass
class RawPanel:
    """One per-module signal under its canonical name: `values[n, m]` for `modules[m]` (NaN where a
    module was not measured), with `steps[n]` and `rows[n]` as in RawColumn."""

    steps: Floats
    modules: tuple[str, ...]
    values: Floats
    rows: Ints


@dataclass
class RawLog:
    """Everything one log said, in its own words.

    `axis`: name of the column that is the step axis, when the format knows it.
    `axis_kind`: "step", "epoch", "iteration", "episode", "row" ... for display.
    `boundaries`: rows at which the format itself says that a new run begins.
    `roles`: canonical names for columns, where the format knows better than the alias table.
    `units`: "ms", "s", "MiB" ... of columns where the format states them.
    `facts`: setup facts under `Setup`'s field names (others are kept as free facts).
    `group`: logs of one group are parts of one run (event files of a folder, train/ + val/).
    """

    source: str
    format: str
    framework: str | None = None
    columns: dict[str, RawColumn] = field(default_factory=dict)
    panels: dict[str, RawPanel] = field(default_factory=dict)
    axis: str | None = None
    axis_kind: str | None = None
    boundaries: list[int] = field(default_factory=list)
    roles: dict[str, str] = field(default_factory=dict)
    units: dict[str, str] = field(default_factory=dict)
    facts: dict[str, object] = field(default_factory=dict)
    events: list[Event] = field(default_factory=list)
    event_rows: dict[int, int] = field(default_factory=dict)  # index in `events` -> row
    group: str = ""
    complete: bool | None = None


def column(values: object, rows: object, steps: object | None = None, times: object | None = None) -> RawColumn:
    """Build a RawColumn from anything array-like."""
    return RawColumn(
        np.asarray(values, dtype=np.float64),
        np.asarray(rows, dtype=np.int64),
        None if steps is None else np.asarray(steps, dtype=np.float64),
        None if times is None else np.asarray(times, dtype=np.float64),
    )
