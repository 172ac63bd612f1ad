"""NumPy's own files: .npy mapped into memory, .npz streamed out of its archive. Never unpickled."""

import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import msgspec
import pyarrow as pa

from traindx.survey import arrays, tabular
from traindx.survey.api import (
    ConfigError,
    ReadError,
    Table,
    Wanted,
    escape_name,
    list_names,
    np,
    rows_a_chunk,
)

LABEL_BYTES = 1 << 28  # of a one-dimensional array, which is read as a whole
BROKEN = (OSError, ValueError, EOFError, zipfile.BadZipFile, KeyError, NotImplementedError)


class Member(msgspec.Struct, frozen=True):
    """An array in an archive: its name, and what its header says."""

    name: str
    shape: tuple[int, ...]
    fortran: bool
    dtype: Any

    @property
    def row_bytes(self) -> int:
        return int(np.prod(self.shape[1:], dtype=np.int64)) * int(self.dtype.itemsize)


def open_npy(path: Path, wanted: Wanted) -> Table:
    """One array `[n, ...]`; with a target, that column of a two-dimensional one. Raises ReadError."""
    try:
        whole = np.load(path, mmap_mode="r", allow_pickle=False)
    except BROKEN as error:
        raise ReadError(str(path), f"is no whole array file: {reason(error)}") from error
    if not arrays.usable(whole):
        raise ReadError(
            str(path), f"holds {whole.dtype} values in {whole.ndim} dimensions, not rows of numbers"
        )
    if wanted.target is None:
        return of_array(str(path), "npy", whole, None, wanted, origin="file")
    if whole.ndim != 2:
        raise ConfigError(
            "--target: an array of samples with more dimensions has no target column; use .npz"
        )
    names = [str(i) for i in range(whole.shape[1])]
    place = names.index(tabular.choose_column(names, wanted.target, "--target") or "0")
    inputs = np.delete(np.arange(whole.shape[1]), place)

    def blocks() -> Iterator[tuple[arrays.Array, arrays.Array | None]]:
        for at in range(0, len(whole), rows_a_chunk(whole.shape[1])):
            part = np.asarray(whole[at : at + rows_a_chunk(whole.shape[1])])
            yield part[:, inputs], part[:, place]

    kept = tuple(n for i, n in enumerate(names) if i != place)
    return arrays.table(
        str(path), "npy", (len(inputs),), blocks, wanted,
        target=names[place], names=kept, origin="file", rows=len(whole),
    )  # fmt: skip


def of_array(
    name: str, form: str, inputs: arrays.Array, targets: arrays.Array | None, wanted: Wanted, **known: Any
) -> Table:
    """A Table over an array `[n, ...]` in memory (or mapped) and its targets `[n]`."""
    if targets is not None and len(targets) != len(inputs):
        raise ConfigError(f"there are {len(inputs):,} samples and {len(targets):,} targets")
    size = rows_a_chunk(int(np.prod(inputs.shape[1:], dtype=np.int64)))

    def blocks() -> Iterator[tuple[arrays.Array, arrays.Array | None]]:
        for at in range(0, len(inputs), size):
            yield inputs[at : at + size], None if targets is None else targets[at : at + size]

    title = None if targets is None else (wanted.target or "target")
    return arrays.table(
        name, form, inputs.shape[1:], blocks, wanted,
        target=title, dtype=getattr(targets, "dtype", None), rows=len(inputs), **known
    )  # fmt: skip


def open_npz(path: Path, wanted: Wanted) -> Table:
    """Inputs and targets by their usual names; arrays of one dimension side by side are columns."""
    members = {m.name: m for m in headers(path)}
    inputs, target = arrays.pick_arrays(list(members), wanted.target)
    if inputs is None:
        rows = {m.shape[0] for m in members.values()}
        if len(members) > 1 and len(rows) == 1 and all(len(m.shape) == 1 for m in members.values()):
            return columns(path, members, wanted)
        deep = [m for m in members.values() if len(m.shape) > 1 and m.name != target]
        if len(deep) != 1:
            raise ReadError(str(path), f"which array holds the samples? There are {list_names(list(members), 12)}",
                            hint="call it x")  # fmt: skip
        inputs = deep[0].name
    member = members[inputs]
    goal = None if target is None else read_small_array(path, members[target])
    if goal is not None and len(goal) != member.shape[0]:
        raise ReadError(str(path), f"{member.shape[0]:,} samples, but {len(goal):,} targets")

    def blocks() -> Iterator[tuple[arrays.Array, arrays.Array | None]]:
        at = 0
        for part in stream(path, member):
            yield part, None if goal is None else goal[at : at + len(part)]
            at += len(part)

    return arrays.table(
        str(path), "npz", member.shape[1:], blocks, wanted,
        target=target, dtype=getattr(goal, "dtype", None), origin="file", rows=member.shape[0],
    )  # fmt: skip


def columns(path: Path, members: dict[str, Member], wanted: Wanted) -> Table:
    """An archive of columns as a table."""

    def blocks() -> Iterator[Any]:
        held = {n: read_small_array(path, m) for n, m in members.items()}
        yield pa.RecordBatch.from_pydict({n: pa.array(a) for n, a in held.items()})

    count = next(iter(members.values())).shape[0]
    return tabular.table(str(path), "npz", list(members), blocks, wanted, origin="file", rows=count)


def headers(path: Path) -> list[Member]:
    """What is in an archive, by the headers of its arrays alone. Raises ReadError."""
    found = []
    try:
        with zipfile.ZipFile(path) as archive:
            for entry in archive.infolist():
                if entry.filename.endswith(".npy"):
                    with archive.open(entry) as raw:
                        shape, fortran, dtype = header(raw)
                    found.append(Member(entry.filename.removesuffix(".npy"), shape, fortran, dtype))
    except BROKEN as error:
        raise ReadError(str(path), f"is no whole archive of arrays: {reason(error)}") from error
    kept = [m for m in found if m.dtype.kind in "fiubUS" and m.shape]
    if not kept:
        raise ReadError(str(path), "holds no array of numbers (pickled objects are never read)")
    return kept


def header(raw: IO[bytes]) -> tuple[tuple[int, ...], bool, Any]:
    version = np.lib.format.read_magic(raw)
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, fortran, dtype = read(raw)
    return shape, fortran, dtype


def stream(path: Path, member: Member) -> Iterator[arrays.Array]:
    """The rows of an array of an archive, block by block. Raises ReadError where it is cut."""
    if member.fortran and len(member.shape) > 1:
        if member.row_bytes * member.shape[0] > LABEL_BYTES:
            raise ReadError(
                str(path), "is in column order and too large for that", hint="np.ascontiguousarray it"
            )
        yield read_small_array(path, member)
        return
    size = rows_a_chunk(max(member.row_bytes // member.dtype.itemsize, 1))
    try:
        with zipfile.ZipFile(path) as archive, archive.open(member.name + ".npy") as raw:
            header(raw)
            for at in range(0, member.shape[0], size):
                count = min(size, member.shape[0] - at)
                read = raw.read(count * member.row_bytes)
                if len(read) < count * member.row_bytes:
                    raise ReadError(str(path), "ends in the middle of an array", where=f"row {at}")
                yield np.frombuffer(read, dtype=member.dtype).reshape(count, *member.shape[1:])
    except BROKEN as error:
        raise ReadError(str(path), f"is damaged: {reason(error)}") from error


def read_small_array(path: Path, member: Member) -> arrays.Array:
    """A small array of an archive. Raises ReadError for one that is not small."""
    if member.row_bytes * member.shape[0] > LABEL_BYTES:
        raise ReadError(str(path), f"{escape_name(member.name)} is too large to be read as a whole")
    try:
        with np.load(path, allow_pickle=False) as archive:
            return np.asarray(archive[member.name])
    except BROKEN as error:
        raise ReadError(str(path), f"is damaged: {reason(error)}") from error


def reason(error: Exception) -> str:
    return str(error).splitlines()[0][:120] if str(error) else type(error).__name__
