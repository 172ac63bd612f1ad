"""Several files of one run: their records in one order."""

from collections.abc import Sequence

import numpy as np

from traindx.readers.raw import RawColumn
from traindx.vocabulary import Floats, Ints


def join_files(files: Sequence[dict[str, RawColumn]]) -> dict[str, RawColumn]:
    """The columns of several files, with rows in the order in which they were written.

    Records are put in order of wall time, but never out of the order of their own file. So a
    resumed run goes on where it was, and writers that took turns are interleaved."""
    if len(files) == 1:
        return files[0]
    orders = [_order(columns) for columns in files]
    owner = np.repeat(np.arange(len(files)), [len(rows) for rows, _ in orders])
    sequence = np.lexsort((owner, np.concatenate([times for _, times in orders])))
    rank = np.empty(len(sequence), np.int64)
    rank[sequence] = np.arange(len(sequence))
    parts: dict[str, list[RawColumn]] = {}
    offset = 0
    for columns, (rows, _) in zip(files, orders, strict=True):
        for name, column in columns.items():
            placed = RawColumn(
                column.values, rank[offset + np.searchsorted(rows, column.rows)], column.steps, column.times
            )
            parts.setdefault(name, []).append(placed)
        offset += len(rows)
    return {name: _joined_column(own) for name, own in parts.items()}


def _order(columns: dict[str, RawColumn]) -> tuple[Ints, Floats]:
    """Rows of a file, ascending, and for each the latest wall time up to it."""
    if not columns:
        return np.zeros(0, np.int64), np.zeros(0)
    rows, first = np.unique(np.concatenate([c.rows for c in columns.values()]), return_index=True)
    walls = np.concatenate([np.zeros(len(c.rows)) if c.times is None else c.times for c in columns.values()])
    return rows, np.maximum.accumulate(np.nan_to_num(walls[first]))


def _joined_column(parts: list[RawColumn]) -> RawColumn:
    """The parts of a column as one, rows ascending."""
    if len(parts) == 1:
        return parts[0]
    rows = np.concatenate([part.rows for part in parts])
    order = np.argsort(rows, kind="stable")
    values, steps, times = (
        np.concatenate([getattr(part, kind) for part in parts])[order]
        for kind in ("values", "steps", "times")
    )
    return RawColumn(values, rows[order], steps, times)
