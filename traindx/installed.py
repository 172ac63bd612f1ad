"""What is installed: modules of a package and what they define, and what other packages declare.

Names are looked up each time a command starts, without importing anything: by plain listings, not `pkgutil` and
`importlib.metadata`, unless a package is not in a folder (a zip), which only those can read."""

import importlib
import os
import sys
from collections.abc import Iterable
from typing import Any, TypeVar

MADE = (".dist-info", ".egg-info")
T = TypeVar("T")


def defined_in(package: str, kind: type[T]) -> list[T]:
    """What the modules of a package and of those in it define of a kind; all of them are imported."""
    import pkgutil

    walk = pkgutil.walk_packages(importlib.import_module(package).__path__, f"{package}.")
    values = [value for info in walk for value in vars(importlib.import_module(info.name)).values()]
    return list({id(value): value for value in values if isinstance(value, kind)}.values())


def index_rows(package: str) -> tuple[tuple[Any, ...], ...]:
    """The rows that `docs.generate` wrote of the modules in a package; none where there is no index."""
    try:
        rows: tuple[tuple[Any, ...], ...] = importlib.import_module(f"{package}.index").ROWS
    except ModuleNotFoundError:
        return ()
    return rows


def modules_of(name: str, places: Iterable[str], families: bool = False) -> set[str]:
    """Full names of the modules in the package `name`, which is in `places`; with `families` those in its
    sub-packages instead."""
    found: set[str] = set()
    for place in places:
        if not os.path.isdir(place):
            import pkgutil

            within = pkgutil.walk_packages([place], f"{name}.")
            found |= {
                i.name for i in within if not i.ispkg and i.name.count(".") == name.count(".") + 1 + families
            }
            continue
        for entry in os.listdir(place):
            stem, _, kind = entry.partition(".")
            if families and not kind and not entry.startswith("_"):
                found |= modules_of(f"{name}.{entry}", [os.path.join(place, entry)])
            elif not families and kind == "py" and stem != "__init__":
                found.add(f"{name}.{stem}")
    return found


def extensions(group: str) -> list[Any]:
    """The loaded entry points of `group`. The standard library's search is imported only if some folder of
    `sys.path` mentions the group, or is no folder (a zip, which only that search can read)."""
    if not any(may_declare(group.encode(), place or os.curdir) for place in sys.path):
        return []
    from importlib.metadata import entry_points

    return [entry.load() for entry in entry_points(group=group)]


def may_declare(group: bytes, place: str) -> bool:
    """Whether a package that was installed into `place` may have entry points of `group`."""
    if not os.path.isdir(place):
        return os.path.exists(place)
    try:
        with os.scandir(place) as entries:
            folders = [entry.path for entry in entries if entry.name.endswith(MADE)]
    except OSError:  # not ours to read: the import system passes it over, too
        return False
    return any(group in entry_points_text(folder) for folder in folders)


def entry_points_text(folder: str) -> bytes:
    """A package's entry points as they were written; empty where it has none."""
    try:
        with open(os.path.join(folder, "entry_points.txt"), "rb") as stream:
            return stream.read()
    except OSError:  # most packages have no such file
        return b""
