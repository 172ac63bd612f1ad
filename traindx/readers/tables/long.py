"""Tables with one number a row and a column that says which (`epoch,metric,value`), as one column for each."""

from collections.abc import Sequence

from traindx.readers.files.text_blocks import whole_text
from traindx.readers.raw import RawColumn, Source, column
from traindx.readers.tables.columns import number
from traindx.readers.tables.layout import Layout, split_line
from traindx.vocabulary import Event

MOST = 200  # names, beyond which words are no names of numbers
VALUES = frozenset({"value", "val", "score", "metric_value"})
LABELS = frozenset({"metric", "metric_name", "tag", "key", "variable"})  # headings of the name of the number
RUNS = frozenset({"run", "run id", "run_id", "run_name", "run name", "experiment", "experiment_id"})
TIMES = frozenset({"timestamp", "time", "wall_time", "wall time", "date"})
COUNTERS = frozenset({"epoch", "step", "iteration", "iter", "global_step", "episode", "round"})


def long_tables(source: Source, layout: Layout, events: list[Event]) -> dict[str, dict[str, RawColumn]]:
    """The columns of each run in such a table, by the run's name, with the name of the counter first; none where a
    table is something else. MLflow's download heads them `Run, Run ID, metric, step, timestamp, value`."""
    plain = [name.strip().lower() for name in layout.names]
    held = [i for i, name in enumerate(plain) if name in VALUES]
    axis = [i for i, name in enumerate(plain) if name in COUNTERS]
    owner = [i for i, name in enumerate(plain) if name in RUNS]
    labels = [i for i in sorted(layout.text) if plain[i] not in RUNS | TIMES]
    others = {*held, *axis, *owner, *labels, *(i for i, name in enumerate(plain) if name in TIMES)}
    if len(labels) != 1 or len(held) != 1 or not axis or len(plain) > len(others) + 1 - bool(owner):
        return {}
    lines = whole_text(source, events).decode("utf-8", "replace").splitlines()[layout.skip :]
    cells = [split_line(line, layout.delimiter) for line in lines]
    runs: dict[str, list[tuple[float | None, str, float | None]]] = {}
    for row in cells:
        if len(row) == len(plain):
            own = row[owner[0]].strip() if owner else ""
            runs.setdefault(own, []).append(
                (number(row[axis[0]]), row[labels[0]].strip(), number(row[held[0]]))
            )
    tables = {
        own: pivot_rows(rows, least=1 + (plain[labels[0]] not in LABELS)) for own, rows in runs.items()
    }
    whole = {own: table for own, table in tables.items() if table is not None}
    return (
        {own: columns_of(layout.names[axis[0]], table) for own, table in whole.items()}
        if tables == whole
        else {}
    )


def columns_of(axis: str, table: dict[str, list[float | None]]) -> dict[str, RawColumn]:
    """The columns of a table of named numbers, with the counter, named `axis`, first."""
    counts = [float(value or 0) for value in table[""]]
    columns = {axis: column(counts, range(len(counts)))}
    for name, values in table.items():
        there = [i for i, value in enumerate(values) if name and value is not None]
        if there:
            columns[name] = column([values[i] for i in there], there)
    return columns


def pivot_rows(
    rows: Sequence[tuple[float | None, str, float | None]], least: int = 2
) -> dict[str, list[float | None]] | None:
    """(counter, name, value) of every row as a list for each name, and under "" the counter; None where a name
    has two values for one count, as tables of several runs do, where nothing repeats, or where there are fewer
    than `least` names."""
    known = [(count, name, value) for count, name, value in rows if count is not None and name]
    names = list(dict.fromkeys(name for _, name, _ in known))
    cells = {(name, count): value for count, name, value in known}
    counts = sorted({count for count, _, _ in known})
    if not least <= len(names) <= min(MOST, len(known) / 2) or len(cells) < len(known):
        return None
    return {"": [*counts], **{name: [cells.get((name, count)) for count in counts] for name in names}}
