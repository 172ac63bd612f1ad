"""Where the logs are: labelled readings, repositories, runs of the gym, or any folder of logs."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from traindx import readers
from traindx.readers.raw import RawLog, Source
from traindx.vocabulary.run import STANDARD_INPUT

HALVES = ("development", "reported")
PRINTED = "stdout.log"


class Case(NamedTuple):
    """One log: its `name` in the tables, the `group` that decides its half (a repository, a program), its place."""

    name: str
    group: str
    path: Path

    @property
    def half(self) -> str:
        return HALVES[hashlib.sha256(self.group.encode()).digest()[0] % 2]

    def read(self) -> list[RawLog]:
        """The log as its columns. Errors: ReadError."""
        if self.path.suffix == ".json" and b'"text_log"' in self.path.read_bytes()[:65536]:
            text = str(json.loads(self.path.read_bytes())["text_log"] or "").encode()
            return readers.merge_groups(
                readers.read_source(Source(STANDARD_INPUT, data=text, head=text[:65536]))
            )
        return readers.merge_groups(readers.read_place(self.path))


def cases(folder: Path) -> Iterator[Case]:
    """The logs of a folder, by name. A folder with `labels.json` holds readings, one with `runs` holds programs of
    the gym, and a folder in it named owner+repository holds that repository's logs."""
    if (folder / "labels.json").is_file():
        for label in json.loads((folder / "labels.json").read_text()):
            group = label.get("repo") or (label["source"] or label["id"]).partition(":")[0]
            yield Case(label["id"], group.strip(), folder / label["path"])
    elif (folder / "runs").is_dir():
        for printed in sorted((folder / "runs").glob(f"*/{PRINTED}")):
            yield Case(printed.parent.name, printed.parent.name.partition(".")[0], printed)
    else:
        for place in sorted(folder.iterdir()):
            if place.is_dir() and "+" in place.name:
                for log in sorted(p for p in place.rglob("*") if p.is_file()):
                    yield Case(str(log.relative_to(folder)), place.name, log)
            else:
                yield Case(place.name, place.name, place)
