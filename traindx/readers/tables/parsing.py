"""Tables of numbers as columns: by pyarrow for large files, by splitting lines for small ones.

Both ways give the same columns. A block that pyarrow cannot take as it is (a repeated header, a
word among numbers, a cut line) is split by hand, so the fast way needs no separate rules.
"""

from bisect import bisect_right
from collections.abc import Iterator
from typing import Any

import msgspec

from traindx.errors import NotALog
from traindx.readers.files.arrow import numbers_of
from traindx.readers.files.text_blocks import blocks, refuse_non_text, size_of, two_at_a_time
from traindx.readers.raw import RawColumn, RawLog, Source
from traindx.readers.tables.layout import Layout, peek_layout
from traindx.readers.tables.rows import Rows
from traindx.vocabulary import Event, Floats, Ints

ARROW_BYTES = 4 << 20  # below, importing pyarrow (0.1 s) costs more than it saves
LEAST_VANISHED = 3  # rows without a value at the end before it is worth telling

ArrowBlock = tuple[int, list[tuple[Floats, Ints | None]]]


class Table(msgspec.Struct):
    """What a table holds: `columns` by their names in the file, `rows` in all, `boundaries` where a
    header came again, `marks` (row, line) where rows and lines of the file part."""

    layout: Layout
    columns: dict[str, RawColumn]
    rows: int
    boundaries: list[int]
    events: list[Event]
    marks: list[tuple[int, int]]

    def line_of(self, row: int) -> int:
        """The line of the file (from 1) that holds `row`."""
        start, line = (
            self.marks[max(bisect_right(self.marks, (row, 1 << 62)) - 1, 0)] if self.marks else (0, 1)
        )
        return line + row - start

    def log(self, source: Source, format_name: str, **known: Any) -> RawLog:
        """A RawLog of these columns; `known` are further fields of it."""
        return RawLog(
            source.name,
            format_name,
            columns=self.columns,
            boundaries=self.boundaries,
            events=self.events,
            **known,
        )


def read_table(source: Source, layout: Layout | None = None) -> Table:
    """The table in `source`. Errors: NotALog where there is none, or no row of numbers in it."""
    refuse_non_text(source)
    layout = layout or peek_layout(source.head)
    if layout is None:
        raise NotALog(source.name, "there is no table of numbers in it")
    events: list[Event] = []
    rows = Rows(layout)
    large = size_of(source) >= ARROW_BYTES and layout.delimiter != " " and len(layout.names) > 1
    large = large and layout.split is None
    pieces = after_header(blocks(source, events), rows)
    if large:
        for block, found in two_at_a_time(lambda block: (block, arrow_block(block, layout)), pieces):
            if found is None or rows.names != layout.names:
                rows.add_block(block)
            else:
                rows.add_arrays(block, *found)
    else:
        for block in pieces:
            rows.add_block(block)
    return finish(source, rows, events)


def after_header(pieces: Iterator[bytes], rows: Rows) -> Iterator[bytes]:
    """The blocks without comments and header at their start."""
    left = rows.layout.skip
    for block in pieces:
        while left and block:
            line, _, block = block.partition(b"\n")
            rows.line += 1
            left -= bool(line.strip())
        if block:
            yield block


def arrow_block(block: bytes, layout: Layout) -> ArrowBlock | None:
    """Rows of a block and, for each numeric column, values and their rows (None: every row).
    None where a line of the block is not as the layout says."""
    import pyarrow as pa
    from pyarrow import csv

    numeric = [f"f{i}" for i in range(len(layout.names)) if i not in layout.text]
    convert = csv.ConvertOptions(
        column_types={name: pa.float64() for name in numeric},
        include_columns=numeric,
        null_values=[""],
        check_utf8=False,
        decimal_point="," if layout.decimal_comma else ".",
    )
    try:
        table = csv.read_csv(
            pa.py_buffer(block),
            read_options=csv.ReadOptions(column_names=[f"f{i}" for i in range(len(layout.names))]),
            parse_options=csv.ParseOptions(delimiter=layout.delimiter, ignore_empty_lines=False),
            convert_options=convert,
        )
    except pa.ArrowInvalid:
        return None
    return table.num_rows, [numbers_of(column) for column in table.columns]


def finish(source: Source, rows: Rows, events: list[Event]) -> Table:
    """The table, with what was wrong in it as events. Errors: NotALog where blanks only seem to separate
    columns."""
    if rows.layout.delimiter == " " and rows.misfit_count > rows.row:
        raise NotALog(source.name, "most of its lines are no rows of one table")
    built = rows.columns.finish(events)
    columns = {name: built[name] for name in dict.fromkeys([*rows.layout.names, *built]) if name in built}
    for name, strange in rows.strange.items():
        if name in columns and strange > len(columns[name].values):
            del columns[name]
        elif name in columns:
            events.append(
                Event("parse-warning", f"{strange} cells of {name[:80]} are not numbers; left out")
            )
    before = len(rows.layout.names)
    for line, names in rows.widths:
        text = f"rows have {len(names)} cells instead of {before}; by their values they are {', '.join(names)[:200]}"
        events.append(Event("parse-warning", text, place=f"line {line}"))
        before = len(names)
    if rows.misfit_count:
        line, cells = rows.misfits[0] if rows.misfits else (rows.line, 0)
        what = f"{cells} cells instead of {len(rows.layout.names)}"
        if rows.misfit_count == 1 and line == rows.line - 1 and not rows.ended:
            text = f"the last line is cut off ({what}); left out"
        else:
            text = f"{rows.misfit_count} lines have another number of cells (first: {what}); left out"
        events.append(Event("parse-warning", text, place=f"line {line}"))
    if not columns:
        why = "has a header and no row of numbers" if rows.layout.header else "holds no numbers"
        raise NotALog(source.name, why, hint="the run may not have logged anything yet")
    gone = {name for name in columns for _, names in rows.widths if name not in names}
    events += vanished_columns({name: c for name, c in columns.items() if name not in gone}, rows.row)
    return Table(rows.layout, columns, rows.row, rows.boundaries, events, rows.marks)


def vanished_columns(columns: dict[str, RawColumn], count: int) -> list[Event]:
    """Columns that were filled in every row and then in none while others go on: pandas and some
    loggers write NaN as an empty cell."""
    events = []
    for name, column in columns.items():
        n = len(column.rows)
        if n and 2 < n <= count - LEAST_VANISHED and column.rows[0] == 0 and column.rows[-1] == n - 1:
            text = (
                f"{name[:80]} has no value after row {n} of {count}: perhaps NaN, written as an empty cell"
            )
            events.append(Event("log-suspect", text, place=f"row {n + 1}", code="values-vanish"))
    return events
