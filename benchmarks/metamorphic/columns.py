"""Changes of a log's columns: each gives a new log, and leaves the one that it got as it is."""

from __future__ import annotations

import copy
from collections.abc import Callable, Collection, Iterator

import numpy as np

from traindx.readers.raw import RawColumn, RawLog
from traindx.vocabulary.run import Floats, Ints


class Exempt(Exception):
    """The relation says nothing about this log, for the reason given."""


def rows_of(raw: RawLog) -> Ints:
    """All rows that hold a number, ascending."""
    every = [c.rows for c in raw.columns.values()] + [p.rows for p in raw.panels.values()]
    return np.unique(np.concatenate(every)) if every else np.zeros(0, dtype=np.int64)


def part(column: RawColumn, chosen: np.ndarray) -> RawColumn:
    """The values that are `chosen[n]`, a mask or indices."""
    steps = None if column.steps is None else column.steps[chosen]
    times = None if column.times is None else column.times[chosen]
    return RawColumn(column.values[chosen], column.rows[chosen], steps, times)


def with_values(raw: RawLog, names: Collection[str], change: Callable[[Floats], Floats]) -> RawLog:
    """The log with the values of some columns changed."""
    made = copy.deepcopy(raw)
    for name in names:
        column = made.columns[name]
        made.columns[name] = RawColumn(change(column.values), column.rows, column.steps, column.times)
    return made


def every_second(raw: RawLog, axis: str | None) -> RawLog:
    """Half of the rows: of columns that are logged together every second value. Rows of the step axis stay where
    a value of their row does."""
    made = copy.deepcopy(raw)
    groups: dict[bytes, list[str]] = {}
    for name, column in made.columns.items():
        if name != axis:
            groups.setdefault(column.rows.tobytes(), []).append(name)
    left: list[Ints] = []
    for names in groups.values():
        for name in names:
            made.columns[name] = part(made.columns[name], np.arange(0, len(made.columns[name].rows), 2))
        left.append(made.columns[names[0]].rows)
    if axis and left:
        counter = made.columns[axis]
        made.columns[axis] = part(counter, np.isin(counter.rows, np.concatenate(left)))
    for panel in made.panels.values():
        panel.steps, panel.values, panel.rows = panel.steps[::2], panel.values[::2], panel.rows[::2]
    return made


def beginning(raw: RawLog, share: float) -> RawLog:
    """The first rows of a log, as if it were read before it ended."""
    made, rows = copy.deepcopy(raw), rows_of(raw)
    last = int(rows[max(int(share * len(rows)), 1) - 1])
    made.columns = {name: part(c, c.rows <= last) for name, c in made.columns.items()}
    made.columns = {name: c for name, c in made.columns.items() if len(c.rows)}
    for panel in made.panels.values():
        kept = panel.rows <= last
        panel.steps, panel.values, panel.rows = panel.steps[kept], panel.values[kept], panel.rows[kept]
    kept_events = [i for i in range(len(made.events)) if made.event_rows.get(i, last + 1) <= last]
    made.event_rows = {n: made.event_rows[i] for n, i in enumerate(kept_events)}
    made.events = [made.events[i] for i in kept_events]
    made.boundaries = [row for row in made.boundaries if row <= last]
    made.complete = None
    return made


def after(raw: RawLog, second: RawLog) -> RawLog:
    """The rows of a second log below those of the first, as when both wrote into one file."""
    made = copy.deepcopy(raw)
    offset = int(rows_of(raw)[-1]) + 1
    for name, more in second.columns.items():
        column = made.columns[name]
        made.columns[name] = RawColumn(
            np.append(column.values, more.values),
            np.append(column.rows, more.rows + offset),
            None if column.steps is None or more.steps is None else np.append(column.steps, more.steps),
            None if column.times is None or more.times is None else np.append(column.times, more.times),
        )
    return made


def renamed(raw: RawLog, names: dict[str, str]) -> RawLog:
    """The log with other names for its columns, in the same order; what a format said of the names is gone."""
    made = copy.deepcopy(raw)
    made.columns = {names.get(name, name): column for name, column in made.columns.items()}
    made.roles = {name: role for name, role in made.roles.items() if name not in names}
    made.units = {names.get(name, name): unit for name, unit in made.units.items()}
    made.axis = names.get(made.axis, made.axis) if made.axis else made.axis
    return made


def with_column(raw: RawLog, name: str, value: float) -> RawLog:
    """The log with one more column, which holds the same value in every row of the longest one."""
    made = copy.deepcopy(raw)
    longest = max(made.columns.values(), key=lambda c: len(c.rows))
    made.columns[name] = RawColumn(
        np.full(len(longest.rows), value), longest.rows.copy(), longest.steps, longest.times
    )
    return made


def last_digit(values: Floats) -> float:
    """One unit of the last digit that the values are printed with; 0 where they have too many or too few to say."""
    finite = values[np.isfinite(values)]
    for digits in range(9):
        unit = 10.0**-digits
        if np.allclose(finite, np.round(finite, digits), rtol=0, atol=unit * 1e-6):
            return unit
    return 0.0


def jittered(raw: RawLog, names: Collection[str], rng: np.random.Generator, least: float) -> RawLog:
    """The log with one unit more or less in the last digit of most values. Columns that move by fewer than
    `least` such units stay, as there the last digit is what they say. Errors: Exempt where none is left."""
    made, changed = copy.deepcopy(raw), 0
    for name in names:
        column = made.columns[name]
        finite = column.values[np.isfinite(column.values)]
        if len(finite) < 2:
            continue
        unit, reach = last_digit(column.values), float(np.ptp(np.sort(finite)[len(finite) // 20 :]))
        unit = unit or 1e-7 * reach
        if unit >= 1 or reach < least * unit or np.abs(finite).min() < 2 * unit:
            continue
        noise = unit * rng.integers(-1, 2, len(column.values))
        within = np.clip(column.values + noise, finite.min(), finite.max())  # no accuracy above 100 %
        noisy = np.where(np.isfinite(column.values), within, column.values)
        made.columns[name] = RawColumn(noisy, column.rows, column.steps, column.times)
        changed += 1
    if not changed:
        raise Exempt("no column has digits to spare")
    return made


def data_columns(raw: RawLog, axis: str | None) -> Iterator[str]:
    yield from (name for name in raw.columns if name != axis)
