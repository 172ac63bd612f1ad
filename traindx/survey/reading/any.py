"""Files and folders as tables: which reader, by the first bytes."""

from __future__ import annotations

from pathlib import Path

from traindx.errors import ReadError
from traindx.survey.reading import arrow as read_arrow
from traindx.survey.reading import numpy as read_numpy
from traindx.survey.table import Table, Wanted


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
