"""Whether checkpoint files are complete and finite, from their bytes: nothing in them is ever unpickled.

Formats: safetensors (https://huggingface.co/docs/safetensors, "Format") and the zip archives of
`torch.save` (PyTorch documentation, "Serialization semantics"). In the latter, `data.pkl` is read as a
list of opcodes, without executing any, to find the types of its storages. PyTorch's own `weights_only`
reader is not used: it builds every tensor, refuses checkpoints that hold other objects, and importing
PyTorch takes seconds that `traindx check` does not have."""

import json
import math
import os
import pickletools
import time
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np

from traindx.lab.conduct.scratch import LINKED, is_linked_as_whole
from traindx.vocabulary import Fact

SUFFIXES = (".pt", ".pth", ".ckpt", ".safetensors")
NAMES = ("pytorch_model.bin", "optimizer.bin", "model.bin")
DEEP, MOST_FILES, MOST_ENTRIES = 4, 40, 20_000
SECONDS = 10.0  # for all files; the rest count as not inspected
HEADER_BYTES = 100 << 20  # a safetensors header is never larger, by its definition
PICKLE_BYTES = 64 << 20
CHUNK = 16 << 20
FLOATS = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "bf16"}
WIDTHS = {
    "F64": 8,
    "I64": 8,
    "U64": 8,
    "F32": 4,
    "I32": 4,
    "U32": 4,
    "F16": 2,
    "BF16": 2,
    "I16": 2,
    "U16": 2,
}
STORAGES = {"DoubleStorage": "<f8", "FloatStorage": "<f4", "HalfStorage": "<f2", "BFloat16Storage": "bf16"}
SHOWN = 3


class Unreadable(Exception):
    """A checkpoint's container is broken; says how."""


class NotKnown(Exception):
    """A file of a kind that cannot be inspected into without executing it."""


class Inspected(NamedTuple):
    """One file: `broken` says why it cannot be read, `bad` which of its tensors are not finite."""

    path: Path
    broken: str = ""
    bad: tuple[str, ...] = ()
    known: bool = True


def facts(folder: Path) -> dict[str, Fact]:
    """Setup facts about the checkpoint files below a folder."""
    inspected = list(inspect_all(folder))
    known = [one for one in inspected if one.known]
    broken, bad = [one for one in known if one.broken], [one for one in known if one.bad]

    def names(found: list[Inspected], what: str) -> str:
        shown = [
            f"{one.path.relative_to(folder)} ({one.broken or ', '.join(one.bad[:SHOWN])})" for one in found
        ]
        return ", ".join(shown[:SHOWN]) + (f" and {len(found) - SHOWN} more" if len(found) > SHOWN else what)

    out: dict[str, Fact] = {
        "checkpoints_seen": len(known),
        "checkpoints_unreadable": len(broken),
        "checkpoints_not_finite": len(bad),
    }
    if len(known) < len(inspected):
        out["checkpoints_not_inspected"] = len(inspected) - len(known)
    if broken:
        out["checkpoints_unreadable_names"] = names(broken, "")
    if bad:
        out["checkpoints_not_finite_names"] = names(bad, "")
    return out


def inspect_all(folder: Path) -> Iterator[Inspected]:
    end = time.monotonic() + SECONDS
    for number, path in enumerate(found_in(folder)):
        if number >= MOST_FILES or time.monotonic() > end:
            yield Inspected(path, known=False)
        else:
            yield inspect(path, end)


def found_in(folder: Path) -> list[Path]:
    """Files that are named like checkpoints, the shallow ones first."""
    found: list[Path] = []
    waiting, entries = [(folder, 0)], 0
    while waiting and entries < MOST_ENTRIES:
        here, depth = waiting.pop(0)
        try:
            inside = sorted(os.scandir(here), key=lambda entry: entry.name)
        except OSError:  # a folder that may not be read holds no checkpoints for us
            continue
        entries += len(inside)
        for entry in inside:
            path = Path(entry.path)
            if entry.is_dir(follow_symlinks=False):
                if depth < DEEP and entry.name not in LINKED and not is_linked_as_whole(path):
                    waiting.append((path, depth + 1))
            elif entry.is_file() and (path.suffix in SUFFIXES or entry.name in NAMES):
                found.append(path)
    return found


def inspect(path: Path, end: float) -> Inspected:
    """Read one file, at most until `end` (a monotonic time)."""
    try:
        bad = safetensors(path, end) if path.suffix == ".safetensors" else torch_archive(path, end)
    except NotKnown:
        return Inspected(path, known=False)
    except (
        Unreadable,
        zipfile.BadZipFile,
        zlib.error,
        EOFError,
        OSError,
        ValueError,
        NotImplementedError,
    ) as why:
        return Inspected(path, broken=str(why)[:120] or type(why).__name__)
    return Inspected(path, bad=tuple(bad))


def finite(file: IO[bytes], length: int, kind: str, end: float) -> bool:
    """Whether `length` bytes of floating-point numbers are all finite. Raises Unreadable at an early end."""
    left, good, rest = length, True, b""
    width = 2 if kind == "bf16" else int(kind[-1])
    while left:
        read = file.read(min(CHUNK, left))
        if not read:
            raise Unreadable("the file ends within a tensor")
        left -= len(read)
        data = rest + read
        whole, rest = data[: len(data) // width * width], data[len(data) // width * width :]
        if kind == "bf16":
            good &= not bool(((np.frombuffer(whole, "<u2") & 0x7F80) == 0x7F80).any())
        elif width > 1:
            good &= bool(np.isfinite(np.frombuffer(whole, kind)).all())
        if time.monotonic() > end:
            raise NotKnown
    return good


def safetensors(path: Path, end: float) -> list[str]:
    """Names of the tensors that are not finite. Raises Unreadable."""
    size = path.stat().st_size
    with open(path, "rb") as file:
        length = int.from_bytes(file.read(8), "little")
        if size < 8 or not 0 < length <= min(HEADER_BYTES, size - 8):
            raise Unreadable("the header is longer than the file")
        header = json.loads(file.read(length))
        if not isinstance(header, dict):
            raise Unreadable("the header is no table of tensors")
        bad = []
        for name, entry in header.items():
            if name == "__metadata__":
                continue
            start, stop = bounds(entry, size - 8 - length)
            if entry["dtype"] in FLOATS:
                file.seek(8 + length + start)
                if not finite(file, stop - start, FLOATS[entry["dtype"]], end):
                    bad.append(str(name)[:80])
        return bad


def bounds(entry: Any, room: int) -> tuple[int, int]:
    """Begin and end of a tensor's bytes. Raises Unreadable where they cannot be."""
    try:
        start, stop = entry["data_offsets"]
        count = math.prod(entry["shape"])
        width = WIDTHS.get(entry["dtype"], 0)
    except (TypeError, KeyError, ValueError) as error:
        raise Unreadable("an entry of the header is no tensor") from error
    if not (isinstance(start, int) and isinstance(stop, int) and 0 <= start <= stop <= room):
        raise Unreadable("the file ends before its last tensor")
    if width and stop - start != count * width:
        raise Unreadable("a tensor's size does not fit its shape")
    return start, stop


def torch_archive(path: Path, end: float) -> list[str]:
    """Names of the storages that are not finite; every checksum is verified. Raises Unreadable."""
    with open(path, "rb") as file:
        first = file.read(4)
    if not zipfile.is_zipfile(path):
        if first.startswith(b"PK"):
            raise Unreadable("cut short: the archive has no index")
        if not first:
            raise Unreadable("the file is empty")
        raise NotKnown  # an old format, which only unpickling can read, or another kind of file
    bad = []
    with zipfile.ZipFile(path) as archive:
        entries = archive.infolist()
        pickled = next(
            (e for e in entries if e.filename.endswith("data.pkl") and e.file_size <= PICKLE_BYTES), None
        )
        kinds = storages(archive.read(pickled)) if pickled is not None else {}
        for entry in entries:
            key = entry.filename.rpartition("/data/")[2]
            kind = kinds.get(key) if "/data/" in entry.filename else None
            with archive.open(entry) as stream:
                if not finite(stream, entry.file_size, kind or "u1", end) and kind:
                    bad.append(f"storage {key}")
                stream.read(1)  # the end, where the checksum is compared
    return bad


def storages(pickled: bytes) -> dict[str, str]:
    """Types of the storages by their key, from the opcodes of `data.pkl`: a persistent id is the tuple
    ("storage", type, key, device, size). Nothing is executed."""
    found: dict[str, str] = {}
    memo: dict[int, object] = {}
    items: list[object] = []
    last: object = None
    for opcode, argument, _ in pickletools.genops(pickled):
        name = opcode.name
        if name == "MARK":
            items = []
        elif name in ("BINPUT", "LONG_BINPUT"):
            memo[int(argument or 0)] = last
        elif name == "MEMOIZE":
            memo[len(memo)] = last
        elif name == "BINPERSID":
            if len(items) >= 3 and items[0] == "storage":
                kind = str(items[1]).rpartition(" ")[2].rpartition(".")[2]
                if kind in STORAGES:
                    found[str(items[2])] = STORAGES[kind]
        elif name != "TUPLE":
            last = memo.get(int(argument or 0)) if name in ("BINGET", "LONG_BINGET") else argument
            items.append(last)
    return found
