"""The smallest writer of the native store, after docs/store.md: what the reader's tests read."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa

from traindx.readers.recorded.stream import checksum

Row = tuple[int, float, str, Sequence[str], Sequence[float]]  # step, time, signal, modules, values
NAMES = pa.dictionary(pa.int32(), pa.utf8())
MODULES = ("fc1", "fc2")


def rows(first: int, last: int) -> list[Row]:
    """Steps of a run: two scalars each, one that comes late, one per-module signal occasionally."""
    out: list[Row] = []
    for step in range(first, last):
        clock = 1.7e9 + step
        out += [(step, clock, "train/loss", (), (1 / (1 + step),)), (step, clock, "lr", (), (0.1,))]
        if step % 5 == 0:
            out.append((step, clock, "grad_norm", MODULES, (float(step), np.nan)))
        if step >= 25:
            out.append((step, clock, "val/loss", (), (np.inf,)))
    return out


def schema(rank: int) -> pa.Schema:
    fields = [
        ("step", pa.int64()),
        ("time", pa.float64()),
        ("signal", NAMES),
        ("modules", NAMES),
        ("values", pa.list_(pa.float64())),
    ]
    return pa.schema(fields, metadata={"traindx.store": "1", "rank": str(rank)})


def write_stream(
    folder: Path, batches: Iterable[Sequence[Row]], *, rank: int = 0, pid: int = 100, close: bool = True
) -> Path:
    """Write one stream; without `close` it has no end mark, as after a kill."""
    file = folder / f"steps-{rank}-{pid}.arrows"
    options = pa.ipc.IpcWriteOptions(emit_dictionary_deltas=True)
    with open(file, "wb") as sink:
        writer = pa.ipc.new_stream(sink, schema(rank), options=options)
        signals: list[str] = []
        sets: list[str] = []
        for rows in batches:
            writer.write_batch(*batch(rows, schema(rank), signals, sets))
            sink.flush()
            size = sink.tell()
        writer.close()
    if not close:
        os.truncate(file, size)
    return file


def batch(
    rows: Sequence[Row], made: pa.Schema, signals: list[str], sets: list[str]
) -> tuple[pa.RecordBatch, dict[str, str]]:
    """A record batch and its checksum; dictionaries only ever grow."""
    step = np.array([r[0] for r in rows], np.int64)
    time = np.array([r[1] for r in rows], np.float64)
    values = np.array([v for r in rows for v in r[4]], np.float64)
    arrays = [
        pa.array(step),
        pa.array(time),
        coded([r[2] for r in rows], signals),
        coded(["\n".join(r[3]) for r in rows], sets),
        pa.array([list(r[4]) for r in rows], pa.list_(pa.float64())),
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=made), {"crc32": str(checksum(step, time, values))}


def coded(words: Sequence[str], known: list[str]) -> pa.DictionaryArray:
    known += [w for w in dict.fromkeys(words) if w not in known]
    return pa.DictionaryArray.from_arrays(
        pa.array([known.index(w) for w in words], pa.int32()), pa.array(known, pa.utf8())
    )


def write_setup(folder: Path, **given: object) -> None:
    folder.joinpath("setup.json").write_text(
        json.dumps({"schema": "traindx.store/1", "started": 1.7e9, **given})
    )
