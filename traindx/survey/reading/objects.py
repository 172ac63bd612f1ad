"""What Python already holds as tables: arrays, tensors, columns, data frames, data sets and loaders; and
files and folders, whose reader is chosen by their first bytes.

No framework is imported: a tensor has `detach` and `numpy`, a data set has a length and items, a loader can
be iterated. Of data sets and loaders only a limited number of samples is drawn."""

import random
import sys
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

import msgspec
import pyarrow as pa

from traindx.survey import arrays, tabular
from traindx.survey.api import Any, Chunk, ConfigError, Iterator, Mapping, ReadError, Table, Wanted, np
from traindx.survey.reading import arrow as read_arrow, numpy as read_numpy
from traindx.survey.reading.numpy import of_array

Given = Any


def as_table(data: Given, target: Given, wanted: Wanted) -> Table:
    """The table in `data`: a path; an array or tensor `[n, ...]` with `target` an array `[n]`; a pair of
    both; columns by name or a data frame with `target` a column's name; a data set or loader of (input,
    target). Raises ConfigError for anything else, ReadError for files that cannot be read."""
    import os

    if isinstance(data, str | os.PathLike):
        return open_table(os.fspath(data), wanted)
    if isinstance(data, tuple) and len(data) == 2 and target is None:
        data, target = data
    if is_columns(data):
        return of_columns(data, wanted, target)
    if is_array(data):
        goal = None if target is None or isinstance(target, str) else as_array(target)
        return of_array("array", "array", as_array(data), goal, wanted, origin="arrays")
    if target is not None and not isinstance(target, str):
        raise ConfigError("separate targets need an array; a data set or loader yields its own targets")
    if hasattr(data, "__getitem__") and hasattr(data, "__len__"):
        return of_dataset(data, wanted)
    if hasattr(data, "__iter__"):
        return of_loader(data, wanted)
    raise ConfigError(
        f"a {type(data).__name__} is not data: give a path, an array, columns, a data set or a loader"
    )


def is_columns(data: Given) -> bool:
    return isinstance(data, Mapping) or (hasattr(data, "columns") and hasattr(data, "__getitem__"))


def is_array(data: Given) -> bool:
    return isinstance(data, np.ndarray) or hasattr(data, "detach") or (isinstance(data, list) and bool(data))


def as_array(data: Given) -> arrays.Array:
    """An array of numbers, or of words. Raises ConfigError for what is neither."""
    made = arrays.as_numpy(data)
    if not hasattr(data, "detach") and (
        made.ndim < 1 or (made.dtype.kind not in "fiubUS" and made.dtype != object)
    ):
        raise ConfigError(f"{made.dtype} values in {made.ndim} dimensions are not rows of data")
    return made


def of_columns(data: Given, wanted: Wanted, target: Given) -> Table:
    """A mapping of columns, or a data frame."""
    names = [str(n) for n in (data.keys() if isinstance(data, Mapping) else data.columns)]
    own = dict(zip(names, data.keys() if isinstance(data, Mapping) else data.columns, strict=True))
    held = {n: column(data[own[n]]) for n in names}
    if target is not None and not isinstance(target, str):
        held["target"] = column(target)
        wanted = msgspec.structs.replace(wanted, target="target")
    lengths = {len(c) for c in held.values()}
    if len(lengths) > 1:
        raise ConfigError("the columns differ in length")

    def blocks() -> Iterator[Any]:
        yield pa.RecordBatch.from_pydict(held)

    return tabular.table(
        "columns", "columns", list(held), blocks, wanted, origin="arrays", rows=lengths.pop()
    )


def column(values: Given) -> Any:
    """One column for pyarrow. Words stay as they are; None and NaN among them are empty."""
    array = as_array(values)
    if array.ndim != 1:
        raise ConfigError(f"a column has {array.ndim} dimensions")
    if array.dtype.kind in "fiub":
        return pa.array(array)
    words = [None if v is None or v != v else v for v in array.tolist()]
    if all(isinstance(v, int | float | None) for v in words):
        return pa.array(words, pa.float64())
    return pa.array([None if v is None else str(v) for v in words], pa.string())


def open_table(path: str | Path, wanted: Wanted) -> Table:
    """The table in a file. Raises ReadError for what cannot be read, ConfigError for a column that is not
    there."""
    place = Path(path)
    if place.is_dir():
        raise ReadError(str(path), "is a folder")
    try:
        with place.open("rb") as stream:
            magic = stream.read(8)
    except OSError as error:
        raise ReadError(str(path), f"cannot be read: {error.strerror}") from error
    if not magic:
        raise ReadError(str(path), "is empty")
    if magic.startswith(b"PAR1"):
        return read_arrow.open_parquet(place, wanted)
    if magic.startswith(b"\x93NUMPY"):
        return read_numpy.open_npy(place, wanted)
    if magic.startswith(b"PK\x03\x04"):
        return read_numpy.open_npz(place, wanted)
    if magic.startswith(b"\x1f\x8b"):
        return read_arrow.open_csv(place, wanted)
    if b"\x00" in magic or magic.startswith((b"\x80", b"\x89")):
        raise ReadError(
            str(path), "is no table that can be read", hint="CSV, Parquet, .npz, .npy or a folder"
        )
    return read_arrow.open_csv(place, wanted)


SAMPLES, BATCHES = 5000, 200  # that are drawn at most
TOGETHER = 250  # neighbouring samples that are drawn in one go
VALUES = 1 << 25  # of all samples together

Pair = tuple[arrays.Array, arrays.Array | None]


def of_dataset(data: Any, wanted: Wanted) -> Table:
    """A data set with a length: all of its samples, or evenly spaced stretches of TOGETHER."""
    total = len(data)
    if not total:
        raise ConfigError("the data set is empty")
    with preserve_random_state():
        first = pair(data[0])
    places = stretches(total, max(1, min(SAMPLES, VALUES // max(first[0].size, 1))))

    def blocks() -> Iterator[Pair]:
        for at in range(0, len(places), TOGETHER):
            with preserve_random_state():
                yield stack_samples([pair(data[int(i)]) for i in places[at : at + TOGETHER]])

    made = table(type(data).__name__, "dataset", first, blocks, wanted, rows=len(places))
    if len(places) < total:
        made.notes.append(f"{len(places):,} of {total:,} samples were drawn, spread evenly")
        made.facts["rows_all"] = total
        return msgspec.structs.replace(made, chunks=lambda: place_chunks(made, places))
    return made


def place_chunks(table: Table, places: np.ndarray[tuple[int], np.dtype[np.int64]]) -> Iterator[Chunk]:
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
    with preserve_random_state():
        first = next(iter(data), None)
    if first is None:
        raise ConfigError("the loader yields nothing")

    def blocks() -> Iterator[Pair]:
        with preserve_random_state():
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
        name = arrays.pick_name(
            list(item), ("input_values", "pixel_values", *arrays.INPUTS, "image", "input", "input_ids")
        )
        goal = arrays.pick_name(list(item), arrays.TARGETS)
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


def stack_samples(pairs: list[Pair]) -> Pair:
    """Samples as one block. Raises ConfigError for samples of different shapes."""
    shapes = {p[0].shape for p in pairs}
    if len(shapes) > 1:
        raise ConfigError(f"samples differ in shape: {', '.join(map(str, sorted(shapes)[:3]))}")
    inputs = np.stack([p[0] for p in pairs])
    return inputs, None if pairs[0][1] is None else np.stack([np.asarray(p[1]) for p in pairs])


@contextmanager
def preserve_random_state() -> Iterator[None]:
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
