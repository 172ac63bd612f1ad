"""Keras' CSVLogger: epoch, then the metrics in alphabetical order; `append=True` adds runs below.

A callback that appends writes no second header. If a later run logs an accuracy before its loss, the accuracy
is under `loss`, and the loss under the next name. It shows at a restart: the column called a loss suddenly
rises within 0..1 where the first run fell, on another level, while another column goes the way of the first
run's loss.
"""

from itertools import pairwise

from traindx.features.statistics import median
from traindx.readers.api import Event, Floats, RawColumn, RawLog, Source, np
from traindx.readers.assembly.restarts import MOST_RUNS, back_at_start
from traindx.readers.tables.layout import Layout, peek_layout
from traindx.readers.tables.parsing import read_table
from traindx.vocabulary import direction_of

NAME = "keras-csv"
MOST = 0.85
BEGINS = (b"epoch", b'"epoch', b"#", b"%", b"//")  # perhaps under comments
HOLDS = (b"loss",)
FIRST_ROWS = 10  # rows whose median is the level a run starts from
LEAST_ROWS = 3
FAR, NEAR = np.log(3.0), np.log(2.0)  # level ratios that are another quantity, the same one


def sniff(source: Source) -> float:
    """`epoch` first and from 0, the other names sorted, a loss among them, val_x only with x."""
    layout = peek_layout(source.head)
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
    restarts = back_at_start(table.columns.get("epoch"))
    table.boundaries = sorted({*table.boundaries, *restarts})
    log = table.log(source, NAME, framework="keras", axis="epoch", axis_kind="epoch")
    for row, moved in unshift(table.columns, [0, *restarts, table.rows]):
        names = ", ".join(f"{name} was logged as {own}" for name, own in moved.items())
        text = f"after a restart the values do not fit the header: {names}; corrected"
        log.event_rows[len(log.events)] = row
        place = f"line {table.line_of(row)}"
        log.events.append(Event("log-suspect", text, place=place, code="columns-shifted"))
    return [log]


def unshift(columns: dict[str, RawColumn], edges: list[int]) -> list[tuple[int, dict[str, str]]]:
    """Put losses back under their names, in place.

    `edges` are the rows at which runs begin, with the row count as the last one; only columns
    that are filled in every row are judged, and only the runs that are kept of a log. Returns (first row,
    name -> name it was under) of each run that was put right.
    """
    count = edges[-1]
    dense = {name: c.values for name, c in columns.items() if len(c.values) == count}
    long = [(a, b) for a, b in pairwise(edges) if b - a >= LEAST_ROWS]
    fixed = []
    for first, last in long[1:][-MOST_RUNS:]:
        run = {name: values[first:last] for name, values in dense.items()}
        start = {name: values[slice(*long[0])] for name, values in dense.items()}
        moved = {name: own for name in run if (own := true_column(name, run, start)) is not None}
        moved |= {name: own for name, own in counterparts(moved) if fits(name, own, run, start)}
        if moved:
            fixed.append((first, moved))
            before = {name: values.copy() for name, values in run.items()}
            for name, own in moved.items():
                columns[name].values[first:last] = before[own]
    return fixed


def counterparts(moved: dict[str, str]) -> list[tuple[str, str]]:
    """What a moved training column says of its validation twin, and the other way round."""
    pairs = [(f"val_{name}", f"val_{own}") for name, own in moved.items()]
    pairs += [(name.removeprefix("val_"), own.removeprefix("val_")) for name, own in moved.items()]
    return [pair for pair in pairs if pair[0] not in moved]


def fits(name: str, own: str, run: dict[str, Floats], start: dict[str, Floats]) -> bool:
    """Whether `name` is far from what it was and `own` near it."""
    if name not in run or own not in run:
        return False
    return bool(distance(run[name], start[name]) > FAR and distance(run[own], start[name]) < NEAR)


def true_column(name: str, run: dict[str, Floats], start: dict[str, Floats]) -> str | None:
    """The column of `run` that holds what `start` calls `name`, when that is plainly not `name`."""
    values, first = run[name], start[name]
    fraction = bool((values >= 0).all() and (values <= 1).all())
    if direction_of(name) != "lower" or not fraction or trend(values) <= 0 or trend(first) >= 0:
        return None
    if distance(values, first) < FAR:
        return None
    others = [
        (distance(run[other], first), other)
        for other in run
        if other != name and trend(run[other]) < 0 and not is_itself(other, name, run, start)
    ]
    nearest = min(others, default=(np.inf, name))
    return nearest[1] if nearest[0] < NEAR else None


def is_itself(other: str, name: str, run: dict[str, Floats], start: dict[str, Floats]) -> bool:
    """Whether `other` goes on as `other` did, and that was something else than `name`."""
    same_quantity = np.allclose(start[other], start[name], rtol=0.05, equal_nan=True)
    return not same_quantity and distance(run[other], start[other]) < NEAR


def distance(a: Floats, b: Floats) -> float:
    """How far apart two runs start: the log of the ratio of their first levels."""
    levels = [float(median(np.abs(x[:FIRST_ROWS]))) for x in (a, b)]
    return (
        float(abs(np.log(levels[0] / levels[1])))
        if min(levels) > 0 and np.isfinite(levels).all()
        else np.inf
    )


def trend(values: Floats) -> float:
    """Last third minus first third, in medians (NaN where not finite: then nothing is concluded)."""
    third = max(len(values) // 3, 1)
    return float(median(values[-third:]) - median(values[:third]))
