"""What other installed packages declare, without the cost of `importlib.metadata` where they declare nothing."""

from __future__ import annotations

import os
import sys
from typing import Any

MADE = (".dist-info", ".egg-info")


def extensions(group: str) -> list[Any]:
    """The loaded entry points of `group`. The standard library's search is imported only if some folder of
    `sys.path` speaks of the group, or is no folder (a zip, which only that search can read)."""
    if not any(speaks_of(group.encode(), place or os.curdir) for place in sys.path):
        return []
    from importlib.metadata import entry_points

    return [entry.load() for entry in entry_points(group=group)]


def speaks_of(group: bytes, place: str) -> bool:
    """Whether a package that was installed into `place` may have entry points of `group`."""
    if not os.path.isdir(place):
        return os.path.exists(place)
    try:
        with os.scandir(place) as entries:
            folders = [entry.path for entry in entries if entry.name.endswith(MADE)]
    except OSError:  # not ours to read: the import system passes it over, too
        return False
    return any(group in declared(folder) for folder in folders)


def declared(folder: str) -> bytes:
    """A package's entry points as they were written; empty where it has none."""
    try:
        with open(os.path.join(folder, "entry_points.txt"), "rb") as stream:
            return stream.read()
    except OSError:  # most packages have no such file
        return b""
