"""Data sets and loaders: only a limited number of samples is drawn."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from typing import Any

import msgspec
import numpy as np

from traindx.errors import ConfigError
from traindx.survey import arrays
from traindx.survey.arrays import Array
from traindx.survey.table import Chunk, Table, Wanted

SAMPLES, BATCHES = 5000, 200  # that are drawn at most
TOGETHER = 250  # neighbouring samples that are drawn in one go
VALUES = 1 << 25  # of all samples together

Pair = tuple[Array, Array | None]


def of_dataset(data: Any, wanted: Wanted) -> Table:
    """A data set with a length: all of its samples, or evenly spaced stretches of TOGETHER."""
    total = len(data)
    if not total:
        raise ConfigError("the data set is empty")
    with undisturbed():
        first = pair(data[0])
    most = max(1, min(SAMPLES, VALUES // max(first[0].size, 1)))
    places = stretches(total, most)

    def blocks() -> Iterator[Pair]:
        for at in range(0, len(places), TOGETHER):
            with undisturbed():
                yield stacked([pair(data[int(i)]) for i in places[at : at + TOGETHER]])

    made = table(type(data).__name__, "dataset", first, blocks, wanted, rows=len(places))
    if len(places) < total:
        made.notes.append(f"{len(places):,} of {total:,} samples were drawn, spread evenly")
        made.facts["rows_all"] = total
        return msgspec.structs.replace(made, chunks=lambda: placed(made, places))
    return made


def placed(table: Table, places: np.ndarray[tuple[int], np.dtype[np.int64]]) -> Iterator[Chunk]:
    """The chunks of a table under the numbers that their rows have in the data set. A chunk never holds rows
    of two stretches."""
    for chunk in table.chunks():
        yield msgspec.structs.replace(chunk, start=int(places[chunk.start]))


def stretches(total: int, most: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """At most `most` of `total` places, in stretches of neighbours."""
    if total <= most:
        return np.arange(total)
    starts = np.linspace(0, total - TOGETHER, max(1, most // TOGETHER)).astype(np.int64)
    return np.unique((starts[:, None] + np.arange(TOGETHER)).reshape(-1).clip(0, total - 1))[:most]


def of_loader(data: Any, wanted: Wanted) -> Table:
    """Anything that yields batches (inputs, targets): the first BATCHES of them."""
    with undisturbed():
        first = next(iter(data), None)
    if first is None:
        raise ConfigError("the loader yields nothing")

    def blocks() -> Iterator[Pair]:
        with undisturbed():
            for batch in islice(iter(data), BATCHES):
                yield pair(batch)

    inputs, targets = pair(first)
    sample = (inputs[0], None if targets is None else targets[0])
    made = table(type(data).__name__, "loader", sample, blocks, wanted)
    made.notes.append(f"at most {BATCHES} batches were drawn")
    return made


def table(name: str, origin: str, sample: Pair, blocks: Any, wanted: Wanted, **known: Any) -> Table:
    inputs, target = sample
    title = None if target is None else "target"
    return arrays.table(
        name, origin, np.shape(inputs), blocks, wanted,
        target=title, dtype=getattr(target, "dtype", None), origin=origin, **known
    )  # fmt: skip


def pair(item: Any) -> Pair:
    """(input, target) of a sample or batch. Raises ConfigError where the input is no array of numbers."""
    if isinstance(item, dict):
        name = arrays.pick(
            list(item), ("input_values", "pixel_values", *arrays.INPUTS, "image", "input", "input_ids")
        )
        goal = arrays.pick(list(item), arrays.TARGETS)
        item = (
            (item[name],)
            if goal is None and name
            else (item[name], item[goal])
            if name and goal
            else (None,)
        )
    parts = list(item) if isinstance(item, tuple | list) else [item]
    inputs = arrays.as_numpy(parts[0])
    if inputs.dtype.kind not in "fiub":
        raise ConfigError(
            f"samples of type {type(parts[0]).__name__} are not arrays of numbers; transform them first"
        )
    return inputs, arrays.as_numpy(parts[1]) if len(parts) > 1 else None


def stacked(pairs: list[Pair]) -> Pair:
    """Samples as one block. Raises ConfigError for samples of different shapes."""
    shapes = {p[0].shape for p in pairs}
    if len(shapes) > 1:
        raise ConfigError(f"samples differ in shape: {', '.join(map(str, sorted(shapes)[:3]))}")
    inputs = np.stack([p[0] for p in pairs])
    return inputs, None if pairs[0][1] is None else np.stack([np.asarray(p[1]) for p in pairs])


@contextmanager
def undisturbed() -> Iterator[None]:
    """Random augmentations draw numbers, so the state of the generators is restored."""
    torch = sys.modules.get("torch")
    kept = random.getstate(), np.random.get_state(), torch.get_rng_state() if torch is not None else None
    try:
        yield
    finally:
        random.setstate(kept[0])
        np.random.set_state(kept[1])
        if torch is not None and kept[2] is not None:
            torch.set_rng_state(kept[2])
