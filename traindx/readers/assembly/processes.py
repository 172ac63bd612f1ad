"""Records of several processes in one log: a column says whose each is."""

from __future__ import annotations

import numpy as np

from traindx.readers.names.aliases import role_of
from traindx.readers.raw import RawColumn, RawLog
from traindx.vocabulary.run import Floats, Ints

NAMES = frozenset({"rank", "global_rank", "process_rank", "process_index", "world_rank"})
MOST = 4096  # processes
NOBODY = -1


def part_by_rank(raw: RawLog) -> None:
    """Where a column `rank` says of which process a record is, and several report the same steps: the first
    one's columns keep their names, those of the others are put under `rank/<i>/`. Columns have their
    steps."""
    name = rank_column(raw)
    if name is None or not holds_ranks(raw.columns[name], raw.columns[name].steps):
        return
    owner = raw.columns.pop(name)
    values = owner.values.astype(np.int64)
    first = int(values.min())
    raw.facts.setdefault("ranks_reporting", len(np.unique(values)))
    for name in [n for n in raw.columns if n != raw.axis and not n.startswith("rank/")]:
        column = raw.columns[name]
        whose = owners(column, owner, values)
        for rank in np.unique(whose[whose > first]).tolist():
            signal = raw.roles.get(name) or role_of(name).signal or name
            raw.columns[f"rank/{rank}/{name}"] = select_rows(column, whose == rank)
            raw.roles[f"rank/{rank}/{name}"] = f"rank/{rank}/{signal}"
        if (whose > first).any():
            raw.columns[name] = select_rows(column, whose <= first)


def rank_column(raw: RawLog) -> str | None:
    """The column that may say whose a record is."""
    return next((name for name in raw.columns if name.lower() in NAMES), None)


def holds_ranks(column: RawColumn, steps: Floats | None) -> bool:
    """Whether numbers are places among processes: whole, at least two of them, and at most steps several in
    turn, each once (a metric of that name has one value a step)."""
    values = column.values
    if steps is None or len(values) < 4 or not np.isfinite(values).all():
        return False
    if (values < 0).any() or (values >= MOST).any() or (values % 1).any() or np.ptp(values) == 0:
        return False
    pairs, times = np.unique(np.stack([steps, values]), axis=1, return_counts=True)
    _, each = np.unique(pairs[0], return_counts=True)
    return bool(np.mean(each > 1) > 0.5 and np.mean(times == 1) > 0.5)


def owners(column: RawColumn, owner: RawColumn, ranks: Ints) -> Ints:
    """The rank that each row of a column is of; NOBODY where the record does not say."""
    at = np.minimum(np.searchsorted(owner.rows, column.rows), len(ranks) - 1)
    return np.where(owner.rows[at] == column.rows, ranks[at], NOBODY)


def select_rows(column: RawColumn, rows: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> RawColumn:
    steps = None if column.steps is None else column.steps[rows]
    times = None if column.times is None else column.times[rows]
    return RawColumn(column.values[rows], column.rows[rows], steps, times)
