"""One Arrow stream of the native store: its whole batches, and where it is damaged."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Any, BinaryIO

import msgspec
import numpy as np

from traindx.readers.raw import RawColumn, RawPanel, stack_panels
from traindx.vocabulary import Floats, Ints

if TYPE_CHECKING:
    import pyarrow as pa

MARK = b"traindx.store"  # key in the metadata of the schema
COLUMNS = ("step", "time", "signal", "modules", "values")
MOST_NAMES = 20_000
END_MARK = 8  # bytes
LARGEST = 1 << 28  # values in one batch


class Stream(msgspec.Struct):
    """What one process wrote. `columns` and `panels` have rows counted within the stream; `ended`:
    its writer closed it; `damage`: (byte, why) of what could not be read; `tail`: the byte at which
    an unfinished batch begins."""

    rank: int = 0
    columns: dict[str, RawColumn] = msgspec.field(default_factory=dict)
    panels: dict[str, RawPanel] = msgspec.field(default_factory=dict)
    panel_times: dict[str, Floats] = msgspec.field(default_factory=dict)
    damage: list[tuple[int, str]] = msgspec.field(default_factory=list)
    tail: int | None = None
    ended: bool = False


class _Piece(msgspec.Struct):
    """Rows of one signal and one set of modules in one batch; `values[n, m]`."""

    steps: Floats
    times: Floats
    rows: Ints
    values: Floats


Pieces = dict[tuple[str, str], list[_Piece]]


def read_stream(stream: BinaryIO, size: int | None = None) -> Stream:
    """Read all whole batches of a stream; no further than `size` bytes, where it may be growing.

    Raises ValueError when not even the schema is whole or it is another's."""
    import pyarrow as pa

    out = Stream()
    pieces: Pieces = {}
    with pa.PythonFile(stream, mode="r") as source:
        try:
            reader = pa.ipc.open_stream(source)
        except (pa.ArrowException, OSError, MemoryError) as error:
            raise ValueError(_short(error)) from error
        out.rank = _rank(reader.schema)
        rows = 0
        while True:
            at = source.tell()
            if size is not None and at > size:
                break
            try:
                batch, notes = reader.read_next_batch_with_custom_metadata()
            except StopIteration:  # at an end mark, or at the end of a file that has none yet
                out.ended = source.tell() - at == END_MARK
                out.tail = None if out.ended or source.tell() == at else at
                break
            except (pa.ArrowException, OSError, MemoryError) as error:
                _stopped(out, at, not stream.read(1), error)
                break
            why = _fault(batch, notes)
            if why:
                out.damage.append((at, why))
            else:
                rows += _take(batch, rows, pieces)
    _assemble(out, pieces)
    return out


def _rank(schema: pa.Schema) -> int:
    notes = schema.metadata or {}
    if MARK not in notes or [n for n in COLUMNS if n not in schema.names]:
        raise ValueError("is an Arrow stream, but none of traindx")
    if notes[MARK] != b"1":
        raise ValueError(f"has store version {notes[MARK][:20]!r}; this traindx reads version 1")
    rank = notes.get(b"rank", b"0")
    return int(rank) if rank.isdigit() and len(rank) < 10 else 0


def _stopped(out: Stream, at: int, at_end: bool, error: BaseException) -> None:
    """A batch could not be read. Where the file ended before the batch did, it is the unfinished
    last one; else it is damage, and as streams are read in order, nothing after it is reached."""
    if at_end:
        out.tail = at
    else:
        out.damage.append((at, f"a batch cannot be read ({_short(error)}); everything after it is left out"))


def _short(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:200]


def checksum(step: Ints, time: Floats, values: np.ndarray[Any, Any]) -> int:
    """The CRC32 that is kept with a batch: over the bytes of its numbers."""
    return zlib.crc32(values.tobytes(), zlib.crc32(time.tobytes(), zlib.crc32(step.tobytes())))


def _fault(batch: pa.RecordBatch, notes: Any) -> str:
    """Why a batch cannot be trusted; empty when it can."""
    import pyarrow as pa

    try:
        batch.validate(full=True)
        step, time, flat = (_numbers(batch, name) for name in ("step", "time", "values"))
        for name in ("signal", "modules"):
            batch.column(name).dictionary  # noqa: B018 - whose indices `validate` has checked
    except (pa.ArrowException, ValueError, AttributeError, MemoryError) as error:
        return f"a batch is malformed ({_short(error)})"
    stored = (notes or {}).get(b"crc32")
    if stored is not None and stored != str(checksum(step, time, flat)).encode():
        return "the checksum of a batch is wrong"
    return ""


def _numbers(batch: pa.RecordBatch, name: str) -> np.ndarray[Any, Any]:
    array = batch.column(name)
    nulls = array.null_count
    if name == "values":
        ends = _ends(array)
        array = array.values.slice(int(ends[0]), int(ends[-1] - ends[0]))
    if nulls or array.null_count or len(array) > LARGEST:
        raise ValueError(f"{name} holds nulls or too many values")
    return np.from_dlpack(array)  # to_numpy imports pandas where it is installed (0.4 s)


def _ends(lists: pa.ListArray) -> Ints:
    """Where the lists of an array end in its values, after where the first begins. `flatten` and `value_lengths` would
    import `pyarrow.compute`."""
    return np.from_dlpack(lists.offsets).astype(np.int64)


def _take(batch: pa.RecordBatch, base: int, pieces: Pieces) -> int:
    """Sort the rows of a batch by signal and modules; returns how many log rows it holds."""
    step, time, flat = (_numbers(batch, name) for name in ("step", "time", "values"))
    if not len(step):
        return 0
    rows = base + np.cumsum(np.append(False, (np.diff(step) != 0) | (np.diff(time) != 0)))
    ends = _ends(batch.column("values"))
    ends, widths = ends[1:] - ends[0], np.diff(ends)
    signals, modules = batch.column("signal"), batch.column("modules")
    first, second = (np.from_dlpack(c.indices).astype(np.int64) for c in (signals, modules))
    pairs = first << 32 | second
    for pair in np.unique(pairs):
        where = np.flatnonzero(pairs == pair)
        key = (
            signals.dictionary[int(pair) >> 32].as_py(),
            modules.dictionary[int(pair) & 0xFFFFFFFF].as_py(),
        )
        width = key[1].count("\n") + 1
        starts = ends[where] - width
        if (widths[where] != width).any() or len(pieces) >= MOST_NAMES:
            continue
        values = flat[starts[:, None] + np.arange(width)].astype(np.float64)
        piece = _Piece(step[where].astype(np.float64), time[where].astype(np.float64), rows[where], values)
        pieces.setdefault(key, []).append(piece)
    return int(rows[-1]) - base + 1


def _assemble(out: Stream, pieces: Pieces) -> None:
    """Columns from the scalars, panels from the rest; module sets of one signal are united."""
    panels: dict[str, list[tuple[tuple[str, ...], _Piece]]] = {}
    for (signal, modules), parts in pieces.items():
        whole = _Piece(
            *(np.concatenate([getattr(p, f) for p in parts]) for f in ("steps", "times", "rows", "values"))
        )
        if modules:
            panels.setdefault(signal, []).append((tuple(modules.split("\n")), whole))
        else:
            out.columns[signal] = RawColumn(whole.values[:, 0], whole.rows, whole.steps, whole.times)
    for signal, sets in panels.items():
        names, values = stack_panels([(given, piece.values) for given, piece in sets])
        rows, steps, times = (
            np.concatenate([getattr(p, f) for _, p in sets]) for f in ("rows", "steps", "times")
        )
        order = np.argsort(rows, kind="stable")
        out.panels[signal] = RawPanel(steps[order], names, values[order], rows[order])
        out.panel_times[signal] = times[order]
