"""Tables with one number a row and a column that says which (`epoch,metric,value`), as one column for each."""

from collections.abc import Sequence

from traindx.readers.files.text_blocks import whole_text
from traindx.readers.raw import RawColumn, Source, column
from traindx.readers.tables.columns import number
from traindx.readers.tables.layout import Layout, split_line
from traindx.vocabulary import Event

MOST = 200  # names, beyond which words are no names of numbers
VALUES = frozenset({"value", "val", "score", "metric_value"})
COUNTERS = frozenset({"epoch", "step", "iteration", "iter", "global_step", "episode", "round"})


def long_table(source: Source, layout: Layout, events: list[Event]) -> dict[str, RawColumn]:
    """The columns of such a table with the name of its counter first; none where a table is something else."""
    plain = [name.strip().lower() for name in layout.names]
    held = [i for i, name in enumerate(plain) if name in VALUES]
    axis = [i for i, name in enumerate(plain) if name in COUNTERS]
    if len(layout.text) != 1 or len(held) != 1 or not axis or len(plain) > 4:
        return {}
    label = next(iter(layout.text))
    lines = whole_text(source, events).decode("utf-8", "replace").splitlines()[layout.skip :]
    cells = [split_line(line, layout.delimiter) for line in lines]
    cells = [row for row in cells if len(row) == len(plain)]
    table = pivoted([(number(row[axis[0]]), row[label].strip(), number(row[held[0]])) for row in cells])
    if table is None:
        return {}
    counts = [float(value or 0) for value in table.pop("")]
    columns = {layout.names[axis[0]]: column(counts, range(len(counts)))}
    for name, values in table.items():
        there = [i for i, value in enumerate(values) if value is not None]
        columns[name] = column([values[i] for i in there], there)
    return columns


def pivoted(rows: Sequence[tuple[float | None, str, float | None]]) -> dict[str, list[float | None]] | None:
    """(counter, name, value) of every row as a list for each name, and under "" the counter; None where a name
    has two values for one count, as tables of several runs do, or where nothing repeats."""
    known = [(count, name, value) for count, name, value in rows if count is not None and name]
    names = list(dict.fromkeys(name for _, name, _ in known))
    cells = {(name, count): value for count, name, value in known}
    counts = sorted({count for count, _, _ in known})
    if not 1 < len(names) <= min(MOST, len(known) / 2) or len(cells) < len(known):
        return None
    return {"": [*counts], **{name: [cells.get((name, count)) for count in counts] for name in names}}
