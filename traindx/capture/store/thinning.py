"""Keeping a disk budget: parts of a stream are replaced by ones with every second value."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from traindx.capture.store.stream import Batch, Part, batch, schema

ROUNDS = 100  # parts rewritten at once, at most
FEW = 64  # a signal with fewer values in a part (validation) keeps them all


@dataclass
class Closed:
    """A finished part: `level` says how often its values were halved."""

    path: Path
    size: int
    level: int = 0


def thin_to_fit(parts: list[Closed], room: int, largest: int, rank: int) -> list[Closed]:
    """The parts, thinned until together they take no more than `room` bytes, or cannot be thinner.

    The part that was halved least often is halved first, and of those the oldest: so a run is kept
    at one density, and its end above that. Neighbours of one density are joined up to `largest`
    bytes, so that there are few files. Raises OSError."""
    parts = list(parts)
    for _ in range(ROUNDS):
        if sum(p.size for p in parts) <= room:
            break
        old = parts[:-1] or parts
        at = min(range(len(old)), key=lambda i: old[i].level)
        parts[at] = merge_parts([parts[at]], True, rank)
        for i in range(len(parts) - 1, 0, -1):
            first, second = parts[i - 1 : i + 1]
            if first.level == second.level > 0 and first.size + second.size <= largest:
                parts[i - 1 : i + 1] = [merge_parts([first, second], False, rank)]
    return parts


def merge_parts(parts: list[Closed], halve: bool, rank: int) -> Closed:
    """One or more neighbours in the place of the first, each signal with every second value if
    asked for. The file is written aside and renamed, so a reader sees the old part or the new
    one."""
    first = parts[0]
    aside = first.path.with_suffix(".thinning")
    part = Part(aside, rank)
    try:
        part.write(_join_batches([found for p in parts for found in batches(p.path, halve)], rank))
        part.close()
    except OSError:
        part.abandon()
        aside.unlink(missing_ok=True)
        raise
    os.replace(aside, first.path)
    for joined in parts[1:]:
        joined.path.unlink()
    return Closed(first.path, part.size, first.level + halve)


def batches(path: Path, halve: bool) -> Iterator[Any]:
    """The record batches of a part; with `halve`, every second value of each signal."""
    import pyarrow as pa

    with pa.OSFile(str(path)) as file:
        found = list(pa.ipc.open_stream(file))
    keep = _every_second(np.concatenate([_pairs(b) for b in found])) if found else np.zeros(0, bool)
    low = 0
    for whole in found:
        yield whole.filter(pa.array(keep[low : low + len(whole)])) if halve else whole
        low += len(whole)


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


def _join_batches(parts: list[Any], rank: int) -> Batch:
    """One batch of several; a recorder's dictionaries only grow, so the last one knows all words."""

    def joined(columns: list[Any]) -> Any:
        return np.concatenate([c.to_numpy(zero_copy_only=False) for c in columns])

    step, time = (joined([b.column(n) for b in parts]) for n in ("step", "time"))
    words = [
        (joined([b.column(n).indices for b in parts]), parts[-1].column(n).dictionary)
        for n in ("signal", "modules")
    ]
    widths = joined([b.column("values").value_lengths() for b in parts])
    flat = joined([b.column("values").flatten() for b in parts])
    return batch(schema(rank), step, time, words[0], words[1], widths, flat)
