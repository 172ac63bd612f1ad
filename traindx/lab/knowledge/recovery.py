"""Whether a SQLite file is a database of traindx, and what can still be read from a damaged one.

The path in `TRAINDX_KB` may be anything: a model, a log, another program's database. A file is changed
only if it carries our application id, or our table (made before there was an id)."""

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from itertools import count
from pathlib import Path
from typing import Any

from traindx.errors import ConfigError

MAGIC = b"SQLite format 3\0"
APPLICATION = 0x7472_6478  # "trdx"; in the bytes 68 to 71 of the file's header
COLUMNS = ("id", "layout", "at", "project", "fix", "cause", "verdict", "content")
# What SQLite keeps next to a file, and would replay into a new file of that name.
COMPANIONS = ("", "-journal", "-wal", "-shm")


def check_ours(file: Path, what: str) -> bool:
    """Whether a file carries our application id; False where it has none yet. Raises ConfigError, naming it
    `what`, for anything else, which is not changed in any way."""
    try:
        if not file.exists():
            return False
        head = b""
        if file.is_file():
            with open(file, "rb") as stream:
                head = stream.read(100)
            if file.is_file() and not head:
                return False
    except OSError as error:
        raise ConfigError(f"{what}: cannot be read: {error.strerror}") from error
    mark = int.from_bytes(head[68:72], "big")
    if head.startswith(MAGIC) and mark == APPLICATION:
        return True
    if head.startswith(MAGIC) and not mark and has_our_table(file):
        return False
    raise ConfigError(
        f"{what}: is not a database of traindx, so it is left unchanged (give a new path, or off)"
    )


def connect(file: Path, options: str) -> sqlite3.Connection:
    return sqlite3.connect(f"{file.absolute().as_uri()}?{options}", uri=True)


def has_our_table(file: Path) -> bool:
    """Whether a database without an application id has the table of outcomes. Nothing is written next to
    it."""
    with suppress(sqlite3.Error), closing(connect(file, "mode=ro&immutable=1")) as database:
        return set(COLUMNS) <= {row[1] for row in database.execute("PRAGMA table_info(outcomes)")}
    return False


def set_aside(file: Path) -> Path:
    """Rename a damaged database to a free name, and return that."""
    base = f"{file.name}.damaged-{time.strftime('%Y%m%d-%H%M%S')}"
    names = (file.with_name(base if n == 1 else f"{base}-{n}") for n in count(1))
    aside = next(name for name in names if not name.exists())
    for end in COMPANIONS:
        with suppress(FileNotFoundError):
            os.rename(f"{file}{end}", f"{aside}{end}")
    return aside


def rescue_rows(file: Path) -> list[dict[str, Any]]:
    """The readable rows of a damaged database, from both ends up to the damage."""
    found: dict[int, dict[str, Any]] = {}
    with suppress(sqlite3.Error), closing(connect(file, "mode=ro")) as database:
        database.text_factory = lossy
        database.execute("PRAGMA writable_schema = ON")  # else nothing can be read from a truncated file
        for order in ("ASC", "DESC"):
            for row in rows(
                database, f"SELECT {', '.join(COLUMNS)} FROM outcomes NOT INDEXED ORDER BY id {order}"
            ):
                if isinstance(row[0], int) and None not in row:
                    found[row[0]] = dict(zip(COLUMNS, row, strict=True))
    return [found[number] for number in sorted(found)]


def rows(database: sqlite3.Connection, query: str) -> Iterator[tuple[Any, ...]]:
    """The rows of a query up to the damage."""
    with suppress(sqlite3.Error, OverflowError):
        yield from database.execute(query)


def lossy(text: bytes) -> str:
    """A text whose bytes may be damaged."""
    return text.decode("utf-8", "replace")
