"""Keras' CSVLogger: epoch, then the metrics in alphabetical order; `append=True` adds runs below."""

from __future__ import annotations

from traindx.readers.raw import RawLog, Source
from traindx.readers.tables.layout import Layout, peek
from traindx.readers.tables.parsing import Table, read_table
from traindx.readers.tables.shifted_columns import unshift
from traindx.vocabulary.run import Event

NAME = "keras-csv"
MOST = 0.85
BEGINS = (b"epoch", b'"epoch', b"#", b"%", b"//")  # perhaps under comments
HOLDS = (b"loss",)


def sniff(source: Source) -> float:
    """`epoch` first and from 0, the other names sorted, a loss among them, val_x only with x."""
    layout = peek(source.head)
    return 0.85 if layout is not None and layout.header and is_keras(layout) else 0.0


def is_keras(layout: Layout) -> bool:
    first, *rest = layout.names
    begins = [cell for cell in layout.samples[0][:1] if cell.strip() == "0"]
    paired = all(name.removeprefix("val_") in rest for name in rest)
    return (
        first == "epoch"
        and len(rest) > 1
        and rest == sorted(rest)
        and "loss" in rest
        and bool(begins)
        and paired
        and not {"iter", "step", "batch"} & set(rest)
    )


def read(source: Source) -> list[RawLog]:
    """One log with a boundary wherever the epoch starts again. Losses that slipped under another
    name after a restart are put back, with an event of code `columns-shifted`."""
    table = read_table(source)
    restarts = restarts_of(table)
    table.boundaries = sorted({*table.boundaries, *restarts})
    log = table.log(source, NAME, framework="keras", axis="epoch", axis_kind="epoch")
    for row, moved in unshift(table.columns, [0, *restarts, table.rows]):
        names = ", ".join(f"{name} was logged as {own}" for name, own in moved.items())
        text = f"after a restart the values do not fit the header: {names}; corrected"
        log.event_rows[len(log.events)] = row
        place = f"line {table.line_of(row)}"
        log.events.append(Event("log-suspect", text, place=place, code="columns-shifted"))
    return [log]


def restarts_of(table: Table) -> list[int]:
    """Rows at which the epoch is back at its first value."""
    epoch = table.columns.get("epoch")
    if epoch is None or len(epoch.values) < 2:
        return []
    values = epoch.values
    back = (values[1:] < values[:-1]) & (values[1:] <= values[0])
    return [int(row) for row in epoch.rows[1:][back]]
