"""Gradient norms of runs whose parameters are spread over processes: parts, summed up to the true norm."""

from __future__ import annotations

import numpy as np

from traindx.readers.raw import RawColumn, RawLog
from traindx.vocabulary.run import Event

PART = "grad_norm_part"
MOST = 1 << 16  # processes


def sum_parts(log: RawLog) -> None:
    """Replace the parts (`grad_norm_part`, `rank/<i>/grad_norm_part`) by `grad_norm`, at the steps that all
    processes recorded: the root of the sum of squares. Parts stay as they are, and an event says so, where
    a process is missing."""
    processes = log.facts.get("grad_norm_processes")
    names = [name for name in log.columns if name.endswith(PART) and not name.startswith("rank/")]
    if not names or not isinstance(processes, int) or not 1 < processes <= MOST:
        return
    for name in names:
        parts = [log.columns.get(f"rank/{i}/{name}" if i else name) for i in range(processes)]
        there = [part for part in parts if part is not None]
        if len(there) < processes:
            message = f"gradient norms are those of the parts of {len(there)} of {processes} processes"
            log.events.append(Event("note", message, code="norm-of-part"))
            continue
        log.columns[name.removesuffix("_part")] = _summed(there)
        for i in range(processes):
            del log.columns[f"rank/{i}/{name}" if i else name]
        log.facts["grad_norm_is_local"] = False


def _summed(parts: list[RawColumn]) -> RawColumn:
    """One column at the common steps, in the rows of the first part; of a step that was made twice, the
    later value of the other parts counts."""
    first = parts[0]
    assert first.steps is not None
    squares, known = np.square(first.values), np.ones(len(first.values), bool)
    for other in parts[1:]:
        assert other.steps is not None
        values = dict(zip(other.steps.tolist(), other.values.tolist(), strict=True))
        known &= np.array([step in values for step in first.steps.tolist()], bool)
        squares = squares + np.square([values.get(step, np.nan) for step in first.steps.tolist()])
    times = None if first.times is None else first.times[known]
    return RawColumn(np.sqrt(squares[known]), first.rows[known], first.steps[known], times)
