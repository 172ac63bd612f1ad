"""Taking a written fix back: what was edited is kept by its digest, so nothing newer is overwritten."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path

import msgspec

from traindx.atomic_write import write_atomically
from traindx.errors import ConfigError
from traindx.vocabulary.edit import Patch

RECORD = Path("traindx-fix", "written.json")


class Written(msgspec.Struct, frozen=True):
    """One edited file: SHA-256 before and after, and the path of its backup."""

    original: str
    edited: str
    backup: str


Writes = list[dict[str, Written]]


def remember(folder: Path, patch: Patch, backups: Mapping[str, str]) -> None:
    """Note what was written into the project in `folder`. Raises OSError."""
    last = {
        path: Written(digest(patch.before[path].encode()), digest(text.encode()), backups[path])
        for path, text in patch.after.items()
    }
    (folder / RECORD).parent.mkdir(exist_ok=True)
    save_record(folder, [*writes(folder), last])


def save_record(folder: Path, known: Writes) -> None:
    write_atomically(folder / RECORD, json.dumps(msgspec.to_builtins(known), indent=1) + "\n")


def undo(folder: Path) -> list[str]:
    """Put the originals of the last written fix back in place of the edited files, and return their paths.
    Raises ConfigError, before anything is changed, where no fix was written, a file is no longer what was
    written, or its original is gone."""
    known = writes(folder)
    if not known:
        raise ConfigError("nothing to undo: `traindx fix --write` has edited no file in this folder")
    last = known[-1]
    for path, one in last.items():
        if content(folder / path) != one.edited:
            raise ConfigError(
                f"{path} was changed since the fix was written, so nothing was undone; the original is {one.backup}"
            )
        if content(folder / one.backup) != one.original:
            raise ConfigError(f"{one.backup} is no longer the original of {path}, so nothing was undone")
    for path, one in last.items():
        write_atomically(folder / path, [(folder / one.backup).read_bytes()])
        (folder / one.backup).unlink()
    save_record(folder, known[:-1])
    return list(last)


def writes(folder: Path) -> Writes:
    """What was written and not undone, the last at the end. Raises ConfigError where the record is damaged."""
    file = folder / RECORD
    if not file.exists():
        return []
    try:
        found = msgspec.json.decode(file.read_bytes(), type=Writes)
    except (OSError, msgspec.MsgspecError) as error:
        raise ConfigError(f"{RECORD} cannot be read, so it is unknown what was written: {error}") from error
    names = [Path(name) for one in found for path, known in one.items() for name in (path, known.backup)]
    if any(name.is_absolute() or ".." in name.parts for name in names):
        raise ConfigError(f"{RECORD} names files outside of this folder")
    return found


def content(path: Path) -> str:
    """The SHA-256 of a file; "" where there is none."""
    return digest(path.read_bytes()) if path.is_file() else ""


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
