"""What every source of data becomes: named fields, and chunks of rows as numbers."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Marks = NDArray[np.uint64]
Objects = NDArray[np.object_]

Kind = Literal["number", "category", "text", "identifier"]
Origin = Literal["file", "arrays", "dataset", "loader"]

MOST_FIELDS = 4096  # features; of more, evenly spread ones are read
CELLS = 1 << 21  # values of a chunk (16 MiB)
MOST_WORDS = 50_000  # different words of a column that get a number each


class Field(msgspec.Struct, frozen=True):
    """A feature: its name in the source, and what it holds."""

    name: str
    kind: Kind = "number"


class Chunk(msgspec.Struct, frozen=True):
    """Rows `start ..` of a table. `features[n, p]`: numbers, or codes of words; NaN where a value is missing
    (or is NaN). `target[n]` and `sensitive[n]` likewise. `texts`: `object[n]` of each text field.
    `empty[n, p]`: cells that the source calls empty, if it distinguishes them from NaN."""

    start: int
    features: Floats
    target: Floats | None = None
    sensitive: Floats | None = None
    texts: tuple[Objects, ...] = ()
    empty: NDArray[np.bool_] | None = None
    marks: Marks | None = None
    inconvertible: int = 0


class Codes:
    """Words as numbers, the same in every table that shares this object: in order of appearance, and by hash
    beyond MOST_WORDS different ones."""

    def __init__(self) -> None:
        self._known: dict[str, dict[str, int]] = {}

    def of(self, column: str, words: Sequence[str | None]) -> Floats:
        """`codes[n]`, NaN for None."""
        known = self._known.setdefault(column, {})
        return np.array([np.nan if w is None else self._code(known, w) for w in words], dtype=np.float64)

    def _code(self, known: dict[str, int], word: str) -> int:
        if word not in known and len(known) >= MOST_WORDS:
            return MOST_WORDS + zlib.crc32(word.encode("utf-8", "surrogatepass"))
        return known.setdefault(word, len(known))

    def words(self, column: str) -> list[str]:
        """The words of a column by code; empty for a column of numbers."""
        return list(self._known.get(column, ()))


class Wanted(msgspec.Struct, frozen=True):
    """What is asked of a source: the target and the sensitive column, the `fields` of the training data if
    this is the validation data, and the codes that both share."""

    codes: Codes
    target: str | None = None
    sensitive: str | None = None
    fields: tuple[Field, ...] | None = None


class Table(msgspec.Struct, frozen=True, kw_only=True):
    """A source that can be read once. `rows` is None where it is not known before reading;
    `notes` gains what was noticed on the way. `target` is what the target is called, None without one."""

    name: str
    format: str
    origin: Origin
    fields: tuple[Field, ...]
    chunks: Callable[[], Iterator[Chunk]]
    rows: int | None = None
    target: str | None = None
    target_kind: Kind = "number"
    sensitive: str | None = None
    left_out: tuple[str, ...] = ()
    notes: list[str] = msgspec.field(default_factory=list)
    facts: dict[str, Any] = msgspec.field(default_factory=dict)


def rows_a_chunk(width: int) -> int:
    return max(1, min(CELLS // max(width, 1), 1 << 17))
