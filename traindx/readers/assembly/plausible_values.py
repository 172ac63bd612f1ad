"""Numbers that no training can mean, taken out before anything is computed from them.

A log may say 1e308 or count its steps with 400 digits. The sum of two such losses overflows, and a
difference of two infinite steps is not a number.
"""

import numpy as np
from msgspec.structs import replace

from traindx.readers.raw import RawColumn, RawLog
from traindx.vocabulary import Floats

LARGEST = 1e150  # the square of a larger number overflows; single precision ends at 3.4e38
LAST_STEP = 2.0**63
LAST_TIME = 2.0**40  # seconds since the epoch: the year 36812


def repair_values(raw: RawLog) -> None:
    """Larger values become infinite, points without a step that can be counted are left out, and clocks
    that cannot be right are not believed."""
    for name, column in raw.columns.items():
        raw.columns[name] = repair_column(column, counted=name == raw.axis)
    for panel in raw.panels.values():
        panel.values = bound_values(panel.values)


def repair_column(column: RawColumn, *, counted: bool) -> RawColumn:
    """The column; of the step axis (`counted`) only the rows that have a step."""
    steps = column.values if counted else column.steps
    if steps is not None and not (known := np.abs(steps) < LAST_STEP).all():
        column = RawColumn(
            column.values[known],
            column.rows[known],
            None if column.steps is None else column.steps[known],
            None if column.times is None else column.times[known],
        )
    if column.times is not None and not (np.abs(column.times) < LAST_TIME).all():
        column = replace(column, times=None)
    return replace(column, values=bound_values(column.values))


def bound_values(values: Floats) -> Floats:
    """Values of which none is larger than `LARGEST` and finite."""
    beyond = np.abs(values) > LARGEST
    return np.where(beyond, np.copysign(np.inf, values), values) if beyond.any() else values
