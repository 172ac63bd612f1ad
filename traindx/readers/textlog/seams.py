"""A log that is pasted in two parts: up to where the run ended, and from where it was resumed.

Between the parts is a sentence (`after resuming I get:`) instead of what a program prints."""

import re
from collections.abc import Sequence

import numpy as np
from msgspec.structs import replace

from traindx.readers.raw import RawLog
from traindx.readers.textlog.axis import Axis
from traindx.vocabulary import Event

SEAM = re.compile(
    r"\b(?:resum\w+|re-?start\w*|re-?load\w*|restor\w+)\b|断点|续训|恢复训练|继续训练|重新加载",
    re.IGNORECASE,
)
OVERLAP = 0.5  # of the steps before the seam that come again behind it


def at_seams(log: RawLog, axis: Axis, sentences: Sequence[int]) -> list[tuple[int, Event]]:
    """Events of resumes, with their rows, where one of `sentences` is between rows of the log. Where the second part
    repeats the steps of the first, the rows are numbered on, as it would otherwise replace what it is compared with."""
    found: list[tuple[int, Event]] = []
    for row in sentences:
        cut = int(np.searchsorted(axis.rows, row))
        if not 0 < cut < len(axis.rows) or any(axis.rows[cut - 1] < other for other, _ in found):
            continue
        before, after = axis.steps[:cut], axis.steps[cut:]
        again = (np.isin(after, before).mean() >= OVERLAP) or after[0] <= before[0]
        if again and log.axis_kind != "row":
            number_rows(log, axis)
        step = float(cut) if log.axis_kind == "row" else float(axis.steps[cut])
        message = "the question says that the run was resumed here"
        found.append((row, Event("resume", message, step, f"line {row}", "declared")))
    return found


def number_rows(log: RawLog, axis: Axis) -> None:
    """Count the records from 0 instead of their steps."""
    for name, column in log.columns.items():
        places = np.searchsorted(axis.rows, column.rows, side="right") - 1
        log.columns[name] = replace(column, steps=np.clip(places, 0, None).astype(np.float64))
    log.axis_kind = "row"
