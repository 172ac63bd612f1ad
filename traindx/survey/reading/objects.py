"""What Python already holds as tables: arrays, tensors, columns, data frames, data sets and loaders; and
files and folders, whose reader is chosen by their first bytes.

No framework is imported: a tensor has `detach` and `numpy`, a data set has a length and items, a loader
can be iterated."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from traindx.errors import ConfigError, ReadError
from traindx.survey import sampling, tabular
from traindx.survey.arrays import Array, as_numpy
from traindx.survey.reading import arrow as read_arrow
from traindx.survey.reading import numpy as read_numpy
from traindx.survey.reading.numpy import of_array
from traindx.survey.table import Table, Wanted

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
        return sampling.of_dataset(data, wanted)
    if hasattr(data, "__iter__"):
        return sampling.of_loader(data, wanted)
    raise ConfigError(
        f"a {type(data).__name__} is not data: give a path, an array, columns, a data set or a loader"
    )


def is_columns(data: Given) -> bool:
    return isinstance(data, Mapping) or (hasattr(data, "columns") and hasattr(data, "__getitem__"))


def is_array(data: Given) -> bool:
    return isinstance(data, np.ndarray) or hasattr(data, "detach") or (isinstance(data, list) and bool(data))


def as_array(data: Given) -> Array:
    """An array of numbers, or of words. Raises ConfigError for what is neither."""
    made = as_numpy(data)
    if not hasattr(data, "detach") and (
        made.ndim < 1 or (made.dtype.kind not in "fiubUS" and made.dtype != object)
    ):
        raise ConfigError(f"{made.dtype} values in {made.ndim} dimensions are not rows of data")
    return made


def of_columns(data: Given, wanted: Wanted, target: Given) -> Table:
    """A mapping of columns, or a data frame."""
    import pyarrow as pa

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
    import pyarrow as pa

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
