"""Any table of numbers: CSV, TSV, semicolons with decimal commas, blanks, with or without a header."""

from __future__ import annotations

from traindx.readers._layout import peek
from traindx.readers._tables import read_table
from traindx.readers.raw import RawLog, Source

NAME = "csv"
MOST = 0.5


def sniff(source: Source) -> float:
    """A table is sure with a header and several columns; bare numbers could be anything."""
    layout = peek(source.head)
    if layout is None:
        return 0.0
    if len(layout.names) == 1:
        return 0.2
    if layout.delimiter == " ":
        return 0.35 if layout.header else 0.25
    return 0.5 if layout.header else 0.4


def read(source: Source) -> list[RawLog]:
    """One log; a header that is repeated marks the start of another run."""
    table = read_table(source)
    exported = {"wall time", "step", "value"} == table.layout.lowered  # TensorBoard's CSV download
    axis = next(name for name in table.columns if name.lower() == "step") if exported else None
    return [table.log(source, NAME, framework="tensorboard" if exported else None, axis=axis)]
