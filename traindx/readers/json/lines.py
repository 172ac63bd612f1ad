"""JSON Lines as columns. Regular stretches of large files go through pyarrow, all else by record."""

import re
from collections.abc import Callable, Sequence
from typing import Any

import msgspec
import numpy as np

from traindx.errors import NotALog
from traindx.readers.files.arrow import numbers_of
from traindx.readers.files.text_blocks import blocks, refuse_non_text, size_of, two_at_a_time
from traindx.readers.json.document import JSON_ERRORS, Record, decode
from traindx.readers.raw import RawColumn, Source
from traindx.readers.tables.columns import Columns
from traindx.vocabulary import Event, Floats

LARGE_BYTES = 8 << 20  # below, importing pyarrow (0.1 s) costs more than it saves
MAX_DEPTH = 8
NUMBER = re.compile(rb"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?|NaN|-?Infinity")
Transform = Callable[[Record, int], Record | None]


class Lines(msgspec.Struct, eq=False):
    """What the lines hold: columns (nested keys joined by "/"), the number of records, events."""

    columns: dict[str, RawColumn]
    records: int
    events: list[Event]


class _Work(msgspec.Struct, eq=False):
    columns: Columns = msgspec.field(default_factory=Columns)
    row: int = 0
    line: int = 1
    broken: list[int] = msgspec.field(default_factory=list)  # lines that are no JSON
    strange: dict[str, int] = msgspec.field(default_factory=dict)


def read_lines(source: Source, transform: Transform | None = None) -> Lines:
    """The records of `source`, one row each. `transform(record, row)` may change a record or drop
    it (None); it does not see records of stretches that are all numbers under the same keys.

    Errors: NotALog when there is no record with a number.
    """
    refuse_non_text(source)
    events: list[Event] = []
    work = _Work()
    ended = True
    if size_of(source) >= LARGE_BYTES:
        for block, found in two_at_a_time(lambda block: (block, regular(block)), blocks(source, events)):
            ended = block.endswith(b"\n")
            if found is None:
                add_block(work, block, transform)
            else:
                add_arrays(work, *found)
    else:
        for block in blocks(source, events):
            ended = block.endswith(b"\n")
            add_block(work, block, transform)
    columns = work.columns.finish(events)
    for name, strange in work.strange.items():
        if name in columns and strange > len(columns[name].values):
            del columns[name]  # words, of which some read as numbers
    if work.broken:
        cut = len(work.broken) == 1 and work.broken[0] == work.line - 1 and not ended
        text = "the last line is cut off" if cut else f"{len(work.broken)} lines are not JSON"
        events.append(Event("parse-warning", f"{text}; left out", place=f"line {work.broken[0]}"))
    if not columns:
        raise NotALog(source.name, "no JSON record with a number in it")
    return Lines(columns, work.row, events)


def add_arrays(work: _Work, names: list[str], arrays: list[Floats]) -> None:
    rows = range(work.row, work.row + len(arrays[0]))
    for name, values in zip(names, arrays, strict=True):
        work.columns.add(name, values, rows)
    work.row += len(rows)
    work.line += len(rows)


def add_block(work: _Work, block: bytes, transform: Transform | None) -> None:
    """Decode a block as a whole, or line by line where a line is not plain JSON."""
    lines = block.removesuffix(b"\n").split(b"\n")
    try:
        values = msgspec.json.decode(b"[" + b",".join(lines) + b"]")
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        values = ()
    if len(values) != len(lines):
        values = []
        for number, line in enumerate(lines, work.line):
            try:
                values += [decode(line)] if line.strip() else []
            except JSON_ERRORS:
                work.broken.append(number)
    work.line += len(lines)
    records, rows = [], []
    for value in values:
        if not isinstance(value, dict):
            continue
        record = transform(value, work.row) if transform else value
        if record:
            records.append(record)
            rows.append(work.row)
        work.row += 1
    add_records(work, records, rows)


def add_records(
    work: _Work, records: Sequence[Record], rows: Sequence[int], prefix: str = "", depth: int = 0
) -> None:
    """The numbers in `records`, by name; records with the same keys are taken together."""
    groups: dict[tuple[str, ...], list[int]] = {}
    for index, record in enumerate(records):
        groups.setdefault(tuple(record), []).append(index)
    for names, members in groups.items():
        numbers = [rows[i] for i in members]
        for name in names:
            add_values(work, prefix + name, [records[i][name] for i in members], numbers, depth)


def add_values(work: _Work, name: str, values: list[Any], rows: list[int], depth: int) -> None:
    """The values of one name: numbers, numbers as text, null, or records of their own."""
    kinds = set(map(type, values))
    if kinds == {float}:
        work.columns.add(name, np.array(values), np.array(rows))
    elif dict in kinds:
        if depth < MAX_DEPTH:
            inner = [i for i, value in enumerate(values) if isinstance(value, dict)]
            add_records(work, [values[i] for i in inner], [rows[i] for i in inner], f"{name}/", depth + 1)
    elif kinds & {int, float, str, type(None)}:
        strange = work.columns.add_cells(name, values, rows)
        if strange:
            work.strange[name] = work.strange.get(name, 0) + strange


def flatten_record(record: Record, prefix: str = "") -> list[tuple[str, object]]:
    """Names and values of a record, nested ones joined by "/"."""
    found: list[tuple[str, object]] = []
    for name, value in record.items():
        found += (
            flatten_record(value, f"{prefix}{name}/")
            if isinstance(value, dict)
            else [(prefix + name, value)]
        )
    return found


def regular(block: bytes) -> tuple[list[str], list[Floats]] | None:
    """Names and columns of a block in which every line has the same keys in the same order and
    nothing but numbers; None for any other block.

    Such lines are a table in disguise: with commas, colons and closing brackets blanked, keys and
    numbers are at the same places of every line. pyarrow reads the numbers, and the keys as
    dictionary columns, so that one comparison for each shows they never change.
    """
    first = block[: block.find(b"\n")]
    blank = b",}" if b'": ' in first else b",:}"
    table = bytes.maketrans(blank, b" " * len(blank))
    cells = first.translate(table).split(b" ")
    places = [i for i, cell in enumerate(cells) if NUMBER.fullmatch(cell)]
    try:
        pairs = flatten_record(decode(first))
    except (*JSON_ERRORS, AttributeError):
        return None
    if [float(cells[i]) for i in places] != [v if isinstance(v, float) else _plain(v) for _, v in pairs]:
        return None
    names = [name for name, _ in pairs]
    if not names or len(set(names)) < len(names):
        return None
    arrays = cells_as_numbers(block.translate(table), cells, places)
    return None if arrays is None else (names, arrays)


def _plain(value: object) -> float | None:
    """An integer as float; None (equal to no cell) for anything else, booleans too."""
    return (
        float(value)
        if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 1 << 63
        else None
    )


def cells_as_numbers(block: bytes, cells: list[bytes], places: list[int]) -> list[Floats] | None:
    """Columns `places` of a block of cells between blanks; None unless every other cell is in
    every line what it is in `cells`."""
    import pyarrow as pa
    from pyarrow import csv

    words = {i: cell for i, cell in enumerate(cells) if cell and i not in set(places)}
    kinds = {f"f{i}": pa.float64() for i in places} | {
        f"f{i}": pa.dictionary(pa.int32(), pa.binary()) for i in words
    }
    try:
        found = csv.read_csv(
            pa.py_buffer(block),
            read_options=csv.ReadOptions(column_names=[f"f{i}" for i in range(len(cells))]),
            parse_options=csv.ParseOptions(delimiter=" ", quote_char=False, ignore_empty_lines=False),
            convert_options=csv.ConvertOptions(
                column_types=kinds, include_columns=list(kinds), null_values=[]
            ),
        )
    except pa.ArrowInvalid:
        return None
    for i, word in words.items():
        if any(chunk.dictionary.to_pylist() != [word] for chunk in found.column(f"f{i}").chunks):
            return None
    return [numbers_of(found.column(f"f{i}"))[0] for i in places]


def columns_of(
    records: Sequence[Record], events: list[Event], rows: Sequence[int] | None = None
) -> dict[str, RawColumn]:
    """The numbers of decoded records as columns; record i is row i, or `rows[i]`."""
    work = _Work()
    add_records(work, records, range(len(records)) if rows is None else rows)
    columns = work.columns.finish(events)
    return {name: c for name, c in columns.items() if work.strange.get(name, 0) <= len(c.values)}
