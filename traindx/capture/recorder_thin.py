"""Keeping a disk budget: two neighbouring parts of a stream become one, with every second value."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from traindx.capture.recorder_stream import Batch, Part, batch, schema

FEW = 64  # a signal with fewer values in a part (validation) keeps them all


@dataclass
class Closed:
    """A finished part: `level` says how often its values were halved."""

    path: Path
    size: int
    level: int = 0


def pair(parts: list[Closed]) -> int | None:
    """The first of the two neighbours to be merged: the oldest pair of the lowest level that has
    one, so that old steps thin first and no stretch is thinned much more than its neighbours. The
    newest part stays as it is while there are others."""
    best: int | None = None
    parts = parts[:-1] if len(parts) > 2 else parts
    for i, (a, b) in enumerate(itertools.pairwise(parts)):
        if a.level == b.level and (best is None or a.level < parts[best].level):
            best = i
    if best is None and len(parts) > 1:
        best = 0
    return best


def merged(first: Closed, second: Closed, rank: int) -> Closed:
    """Both parts in the place of the first, each signal with every second value. The file is
    written aside and renamed, so a reader sees the old part or the new one. Raises OSError."""
    aside = first.path.with_suffix(".thinning")
    part = Part(aside, rank)
    try:
        part.write(_joined([*thinned(first.path), *thinned(second.path)], rank))
        part.close()
    except OSError:
        part.abandon()
        aside.unlink(missing_ok=True)
        raise
    os.replace(aside, first.path)
    second.path.unlink()
    return Closed(first.path, part.size, max(first.level, second.level) + 1)


def thinned(path: Path) -> Iterator[Any]:
    """The record batches of a part with every second value of each signal."""
    import pyarrow as pa

    with pa.OSFile(str(path)) as file:
        batches = list(pa.ipc.open_stream(file))
    keep = _every_second(np.concatenate([_pairs(b) for b in batches])) if batches else np.zeros(0, bool)
    low = 0
    for found in batches:
        yield found.filter(pa.array(keep[low : low + len(found)]))
        low += len(found)


def _pairs(found: Any) -> np.ndarray[Any, np.dtype[np.int64]]:
    """One number for the signal and the modules of each row."""
    signal, modules = (found.column(n).indices.to_numpy().astype(np.int64) for n in ("signal", "modules"))
    return np.asarray(signal << 32 | modules)


def _every_second(pairs: np.ndarray[Any, np.dtype[np.int64]]) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Which rows stay: of each pair the first, third ...; all where there are few."""
    order = np.argsort(pairs, kind="stable")
    ranked = pairs[order]
    starts = np.flatnonzero(np.append(True, ranked[1:] != ranked[:-1]))
    counts = np.diff(np.append(starts, len(ranked)))
    turn = np.arange(len(ranked)) - np.repeat(starts, counts)
    keep = np.empty(len(ranked), bool)
    keep[order] = (turn % 2 == 0) | np.repeat(counts < FEW, counts)
    return keep


def _joined(batches: list[Any], rank: int) -> Batch:
    """One batch of several; a recorder's dictionaries only grow, so the last one knows all words."""

    def whole(parts: list[Any]) -> Any:
        return np.concatenate([p.to_numpy(zero_copy_only=False) for p in parts])

    step, time = (whole([b.column(n) for b in batches]) for n in ("step", "time"))
    words = [
        (whole([b.column(n).indices for b in batches]), batches[-1].column(n).dictionary) for n in ("signal", "modules")
    ]
    widths = whole([b.column("values").value_lengths() for b in batches])
    flat = whole([b.column("values").flatten() for b in batches])
    return batch(schema(rank), step, time, words[0], words[1], widths, flat)
