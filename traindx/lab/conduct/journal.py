"""The diary of a proof: one JSON line for every start of the script that came to its end.

A line is on the disk before the next start begins, so that after a kill -9 nothing finished is done
again. The first line says which command, settings and state of the project it belongs to. A diary of others
is not continued.
"""

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from traindx.lab.conduct.inputs import OWN_OUTPUT
from traindx.redaction import redact

FILE = "trials.jsonl"
NAMED = 2  # of the things that changed


class Journal:
    """The diary in a folder. `entries` are those that were there, in order; a torn last line is not among
    them. `changed`: why those of an earlier proof are not, or ""."""

    def __init__(self, folder: Path, about: Mapping[str, Any]) -> None:
        self.path, self.about = folder / FILE, about
        self.lock = (
            -1
        )  # the descriptor that keeps others out of the folder as long as this process is at work there
        self.inputs_now: Callable[[], Mapping[str, str]] = dict  # reads anew what the starts depend on
        known = lines(self.path)
        self.changed = sentence(known[0], about) if known else ""
        self.entries: list[dict[str, Any]] = [] if self.changed else known[1:]
        if not self.entries:
            self.path.write_bytes(b"")
            self.write(about)

    def write(self, entry: Mapping[str, Any]) -> None:
        """Add a line; it is on the disk when this returns."""
        with open(self.path, "ab+") as file:
            torn = False
            if file.tell():
                file.seek(-1, os.SEEK_END)
                torn = file.read(1) != b"\n"
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
        except (ValueError, RecursionError):
            continue  # torn by a kill -9 or a full disk, or no line of ours
        if isinstance(entry, dict):
            found.append(entry)
    return found


def differences(entry: Mapping[str, Any], about: Mapping[str, Any]) -> Iterator[str]:
    """The names of what is not the same in a diary's first line and now."""
    for name in [*about, *(name for name in entry if name not in about)]:
        before, now = entry.get(name), about.get(name)
        if isinstance(before, Mapping) and isinstance(now, Mapping):
            yield from differences(before, now)
        elif before != now and OWN_OUTPUT not in (before, now):
            yield name


def sentence(entry: Mapping[str, Any], about: Mapping[str, Any]) -> str:
    """Why a diary is not gone on with: "cfg.json changed since"; "" where nothing did."""
    names = list(differences(entry, json.loads(json.dumps(dict(about)))))
    if not names:
        return ""
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return f"{', '.join(names[:NAMED])}{more} changed since"


class Unfinished(NamedTuple):
    """The folder of a proof to go on with, or None; `changed`: why the newest of this command is not, or
    ""."""

    folder: Path | None
    changed: str


def find_unfinished(base: Path, name: str, about: Mapping[str, Any], done: str) -> Unfinished:
    """The newest folder `base`/`name`-... whose diary is about this, and which lacks the file `done`."""
    changed = ""
    for folder in (
        sorted(base.glob(f"{name}-*"), key=lambda p: p.name, reverse=True) if base.is_dir() else []
    ):
        known = [] if (folder / done).exists() else lines(folder / FILE)
        if not known or known[0].get("command") != about.get("command"):
            continue
        why = sentence(known[0], about)
        if not why:
            return Unfinished(folder, "")
        changed = changed or f"{why} {folder}"
    return Unfinished(None, changed)


def about(command: Sequence[str], inputs: Mapping[str, str], **options: Any) -> dict[str, Any]:
    """What a diary is of: the command (its secrets by the digest of all its words), what it depends on, and
    what was asked for."""
    words = hashlib.sha256(json.dumps(list(command)).encode()).hexdigest()
    asked = {f"--{name.replace('_', '-')}": value for name, value in options.items()}
    what = {"schema": "traindx.trials/2", "command": redact(command), "command line": words}
    return {**what, **asked, "inputs": dict(inputs)}
