"""What every source of data becomes: named fields, and chunks of rows as numbers; what a
measurement of them gives; and names from data (columns, labels, files) made harmless."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from traindx.vocabulary import Bools, Fact, Floats, Ints

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
    empty: Bools | None = None
    marks: Marks | None = None
    inconvertible: int = 0


class Codes:
    """Words as numbers, the same in every table that shares this object: in order of appearance, and by hash
    beyond MOST_WORDS different ones."""

    def __init__(self) -> None:
        self._known: dict[str, dict[str, int]] = {}

    def encode(self, column: str, words: Sequence[str | None]) -> Floats:
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


LIMIT = 40  # characters of a name
SHOWN = 6


def escape_name(name: object, limit: int = LIMIT) -> str:
    """`name` on one line, at most `limit` characters, every control or invisible character spelled out."""
    text = str(name)
    text = text if len(text) <= limit else text[: limit - 1] + "…"
    return "".join(
        c if c.isprintable() else c.encode("unicode_escape", "surrogatepass").decode() for c in text
    )


def list_names(
    names: Sequence[object], most: int = SHOWN, *, limit: int = LIMIT, quotes: bool = True
) -> str:
    """ "a, b, c and 4 more", each at most `limit` characters; with `quotes`, names that hold a comma or
    blank are quoted."""
    shown = [
        quote_name(escape_name(n, limit)) if quotes else escape_name(n, limit) for n in islice(names, most)
    ]
    rest = len(names) - len(shown)
    return ", ".join(shown) + (f" and {rest:,} more" if rest else "")


def quote_name(name: str) -> str:
    return repr(name) if not name or any(c in name for c in ", ;'\"") else name


def indices(rows: Iterable[int], most: int = 10) -> str:
    """Row numbers (from 0) as a short list."""
    return list_names([str(int(r)) for r in rows], most)


MOST_ROWS = 100_000


class Measured(msgspec.Struct):
    """`facts` by the names that rules read; `rows`: by the slug of the rule that reports them, worst first;
    `reasons`: why facts are missing."""

    facts: dict[str, Fact] = {}
    rows: dict[str, Ints] = {}
    reasons: dict[str, str] = {}

    def add(self, other: Measured) -> None:
        self.facts |= other.facts
        self.rows |= {k: v[:MOST_ROWS] for k, v in other.rows.items() if len(v)}
        self.reasons |= other.reasons
