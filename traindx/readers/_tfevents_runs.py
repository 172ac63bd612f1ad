"""Several event files of one run: which belong together, and their records in one order."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from traindx.readers._tfevents import Decoded
from traindx.readers.raw import RawColumn
from traindx.vocabulary.run import Floats, Ints

SPLITS = frozenset({"train", "training", "val", "valid", "validation", "eval", "evaluation", "test", "testing", "dev"})


class Part(NamedTuple):
    """One event file: its folder, relative to the folder that was asked for, and what is in it."""

    folder: Path
    file: str
    decoded: Decoded


def run_folder(part: Part) -> Path:
    """The folder of the run that a file belongs to. Writers open sub-folders of a run for a split
    (Keras, Estimator), for one line of a chart (`add_scalars`) and for hyperparameters."""
    folder = part.folder
    if folder == Path("."):
        return folder
    if folder.name.lower() in SPLITS or _charts(part) or (part.decoded.hparams and _is_clock(folder.name)):
        return folder.parent
    return folder


def named(part: Part, root: str) -> dict[str, RawColumn]:
    """Columns of a file under names that hold what its folder says: `validation/epoch_loss`."""
    name = part.folder.name or root
    if part.folder.name and _charts(part):
        return {tag + "/" + name[len(tag) + 1 :]: column for tag, column in part.decoded.columns.items()}
    if name.lower() not in SPLITS:
        return part.decoded.columns
    return {
        t if t.lower().startswith(name.lower() + "/") else f"{name}/{t}": c for t, c in part.decoded.columns.items()
    }


def _charts(part: Part) -> bool:
    """Whether the folder is a line of a chart: `loss_train` for the tag `loss` of add_scalars."""
    tags = part.decoded.columns
    return bool(tags) and all(
        part.folder.name.startswith(tag.replace("/", "_").replace(" ", "_") + "_") for tag in tags
    )


def _is_clock(name: str) -> bool:
    return name.replace(".", "", 1).isdigit()


def joined(files: list[dict[str, RawColumn]]) -> dict[str, RawColumn]:
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
    out: dict[str, RawColumn] = {}
    offset = 0
    for columns, (rows, _) in zip(files, orders, strict=True):
        for name, column in columns.items():
            placed = RawColumn(
                column.values, rank[offset + np.searchsorted(rows, column.rows)], column.steps, column.times
            )
            out[name] = _append(out[name], placed) if name in out else placed
        offset += len(rows)
    return out


def _order(columns: dict[str, RawColumn]) -> tuple[Ints, Floats]:
    """Rows of a file, ascending, and for each the latest wall time up to it."""
    if not columns:
        return np.zeros(0, np.int64), np.zeros(0)
    rows, first = np.unique(np.concatenate([c.rows for c in columns.values()]), return_index=True)
    walls = np.concatenate([np.zeros(len(c.rows)) if c.times is None else c.times for c in columns.values()])
    return rows, np.maximum.accumulate(np.nan_to_num(walls[first]))


def _append(first: RawColumn, second: RawColumn) -> RawColumn:
    rows = np.concatenate([first.rows, second.rows])
    order = np.argsort(rows, kind="stable")
    assert first.steps is not None
    assert second.steps is not None
    assert first.times is not None
    assert second.times is not None
    values, steps, times = (
        np.concatenate(pair)[order]
        for pair in ((first.values, second.values), (first.steps, second.steps), (first.times, second.times))
    )
    return RawColumn(values, rows[order], steps, times)
