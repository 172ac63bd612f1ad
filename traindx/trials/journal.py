"""The diary of a proof: one JSON line for every start of the script that came to its end.

A line is on the disk before the next start begins, so that after a kill -9 nothing finished is done again. The
first line says what the diary is of; one of another script, command or setting is not gone on with.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from traindx.redaction import redact

FILE = "trials.jsonl"
SCRIPT_BYTES = 4 << 20


class Journal:
    """The diary in a folder. `entries` are those that were there, in order; a torn last line is not among them."""

    def __init__(self, folder: Path, about: Mapping[str, Any]) -> None:
        self.path = folder / FILE
        known = lines(self.path)
        self.entries: list[dict[str, Any]] = known[1:] if known and same(known[0], about) else []
        if not self.entries:
            self.path.write_bytes(b"")
            self.write(about)

    def write(self, entry: Mapping[str, Any]) -> None:
        """Add a line; it is on the disk when this returns."""
        whole = self.path.read_bytes()
        torn = bool(whole) and not whole.endswith(b"\n")
        with open(self.path, "ab") as file:
            file.write(b"\n" * torn + json.dumps(dict(entry), sort_keys=True).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())


def lines(path: Path) -> list[dict[str, Any]]:
    """The whole lines of a diary; nothing where there is none."""
    if not path.is_file():
        return []
    found = []
    for line in path.read_bytes().split(b"\n"):
        try:
            entry = json.loads(line)
        except ValueError:
            continue  # torn by a kill -9 or a full disk
        if isinstance(entry, dict):
            found.append(entry)
    return found


def same(entry: Mapping[str, Any], about: Mapping[str, Any]) -> bool:
    """Whether a diary's first line says that it is about this."""
    told: dict[str, Any] = json.loads(json.dumps(dict(about)))
    return told == dict(entry)


def unfinished(base: Path, name: str, about: Mapping[str, Any], done: str) -> Path | None:
    """The newest folder `base`/`name`-... whose diary is about this, and which lacks the file `done`."""
    found = sorted(base.glob(f"{name}-*"), key=lambda p: p.name, reverse=True) if base.is_dir() else []
    for folder in found:
        known = lines(folder / FILE)
        if known and same(known[0], about) and not (folder / done).exists():
            return folder
    return None


def about(command: Sequence[str], script: Path | None, **options: Any) -> dict[str, Any]:
    """What a diary is of: the command (its secrets by the digest of all its words), the script's content, and what was
    asked for."""
    digest = ""
    if script is not None and script.is_file():
        with open(script, "rb") as file:
            digest = hashlib.sha256(file.read(SCRIPT_BYTES)).hexdigest()
    words = hashlib.sha256(json.dumps(list(command)).encode()).hexdigest()
    return {"schema": "traindx.trials/1", "command": redact(command), "words": words, "script": digest, **options}
