"""What a format's reader hands over: columns in the order of the file, nothing interpreted.

Reading is two steps. A format file turns bytes into a `RawLog` (this module's shapes); then
`assemble` finds the step axis, splits restarts, joins resumes, maps names to canonical signals
and builds frozen `Run`s. A format file therefore knows only its format.
"""

import io
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

import msgspec
import numpy as np
from msgspec.structs import replace

from traindx.errors import ReadError
from traindx.readers.compressed import MOST_PIPED, decompress, open_plain
from traindx.vocabulary import Event, Floats, Ints

HEAD_BYTES = 65536  # how much of a file a sniffer sees
HOLE = 64  # zeros that are no part of a text or a record


class Source(msgspec.Struct, frozen=True, eq=False):
    """Bytes to be read: a file (perhaps .gz), or bytes that are already in memory (stdin).

    `name` is shown to the user; `head` is the (decompressed) first 64 KiB.
    """

    name: str
    path: Path | None = None
    data: bytes | None = None
    head: bytes = b""

    def open(self) -> BinaryIO:
        """Open the plain (decompressed) bytes for reading; as many as `_bytes` believes.

        Errors: OSError; reading raises `Cut` (an EOFError) where the bytes end too early."""
        if self.data is not None:
            return decompress(io.BytesIO(self.data), len(self.data))
        assert self.path is not None
        return open_plain(self.path)

    def read_bytes(self) -> bytes:
        """All bytes; of a damaged file those before the damage. Errors: OSError, `Cut` when there are
        none."""
        with self.open() as stream:
            return stream.read()


def source_of(path: Path) -> Source:
    """A file with its head. Errors: ReadError when it cannot be opened, is no regular file, or has no whole
    byte."""
    source = Source(str(path), path)
    try:
        with source.open() as stream:
            return replace(source, head=head_of(stream))
    except (OSError, EOFError) as error:
        raise ReadError(str(path), f"cannot be opened: {reason(error)}") from error


def read_pipe(name: str, stream: BinaryIO) -> Source:
    """What comes through a pipe, which can be read only once. Errors: ReadError for nothing or too much."""
    pieces: list[bytes] = []
    while piece := stream.read(1 << 20):
        pieces.append(piece)
        if len(pieces) > MOST_PIPED >> 20:
            raise ReadError(
                name, f"is more than {MOST_PIPED >> 20} MiB", hint="write it into a file and name that"
            )
    source = Source(name, data=b"".join(pieces))
    if not any(piece.strip() for piece in pieces):
        raise ReadError(name, "is empty", hint="pipe a log into `traindx diagnose -`")
    with source.open() as plain:
        return replace(source, head=head_of(plain))


def head_of(stream: BinaryIO) -> bytes:
    """The first bytes, without the zeros that a crash of the machine leaves behind the last line, and those
    before the first line of a log that was emptied while a program went on writing into it."""
    head = stream.read(HEAD_BYTES)
    begins = head[:HOLE] == bytes(HOLE)
    while begins and head and not head.strip(b"\0"):
        head = stream.read(HEAD_BYTES)
    if begins:
        head = head.lstrip(b"\0")
    return head.rstrip(b"\0") if head.endswith(bytes(HOLE)) else head


def reason(error: Exception) -> str:
    """An error in words, without its number and file name."""
    return (error.strerror or str(error)) if isinstance(error, OSError) else str(error)


class RawColumn(msgspec.Struct, eq=False):
    """One logged name. `values[n]` (NaN where the log says NaN; a missing cell is simply not
    there), `rows[n]` ascending order in the file (same row = logged together), `steps[n]` when the
    format gives every value its own step, `times[n]` seconds since the epoch."""

    values: Floats
    rows: Ints
    steps: Floats | None = None
    times: Floats | None = None


class RawPanel(msgspec.Struct, eq=False):
    """One per-module signal under its canonical name: `values[n, m]` for `modules[m]` (NaN where a
    module was not measured), with `steps[n]` and `rows[n]` as in RawColumn."""

    steps: Floats
    modules: tuple[str, ...]
    values: Floats
    rows: Ints


def stack_panels(parts: Sequence[tuple[tuple[str, ...], Floats]]) -> tuple[tuple[str, ...], Floats]:
    """Panels, each as (`modules[m]`, `values[n, m]`), one below the other; modules that a part lacks are NaN."""
    modules = tuple(dict.fromkeys(module for names, _ in parts for module in names))
    place = {module: i for i, module in enumerate(modules)}
    values = np.full((sum(len(part) for _, part in parts), len(modules)), np.nan)
    low = 0
    for names, part in parts:
        values[low : low + len(part), [place[module] for module in names]] = part
        low += len(part)
    return modules, values


class RawLog(msgspec.Struct, eq=False):
    """Everything that one log holds, under its own names.

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
    columns: dict[str, RawColumn] = msgspec.field(default_factory=dict)
    panels: dict[str, RawPanel] = msgspec.field(default_factory=dict)
    axis: str | None = None
    axis_kind: str | None = None
    boundaries: list[int] = msgspec.field(default_factory=list)
    roles: dict[str, str] = msgspec.field(default_factory=dict)
    units: dict[str, str] = msgspec.field(default_factory=dict)
    facts: dict[str, object] = msgspec.field(default_factory=dict)
    events: list[Event] = msgspec.field(default_factory=list)
    event_rows: dict[int, int] = msgspec.field(default_factory=dict)  # index in `events` -> row
    group: str = ""
    complete: bool | None = None


def column(
    values: object, rows: object, steps: object | None = None, times: object | None = None
) -> RawColumn:
    """Build a RawColumn from anything array-like."""
    return RawColumn(
        np.asarray(values, dtype=np.float64),
        np.asarray(rows, dtype=np.int64),
        None if steps is None else np.asarray(steps, dtype=np.float64),
        None if times is None else np.asarray(times, dtype=np.float64),
    )
