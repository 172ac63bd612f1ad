"""Names from data (columns, labels, files) made harmless, and short lists of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice

LIMIT = 40  # characters of a name
SHOWN = 6


def escaped(name: object, limit: int = LIMIT) -> str:
    """`name` on one line, at most `limit` characters, every control or invisible character spelled out."""
    text = str(name)
    text = text if len(text) <= limit else text[: limit - 1] + "…"
    return "".join(
        c if c.isprintable() else c.encode("unicode_escape", "surrogatepass").decode() for c in text
    )


def listing(names: Sequence[object], most: int = SHOWN, *, limit: int = LIMIT, quotes: bool = True) -> str:
    """ "a, b, c and 4 more", each at most `limit` characters; with `quotes`, names that hold a comma or
    blank are quoted."""
    shown = [quoted(escaped(n, limit)) if quotes else escaped(n, limit) for n in islice(names, most)]
    rest = len(names) - len(shown)
    return ", ".join(shown) + (f" and {rest:,} more" if rest else "")


def quoted(name: str) -> str:
    return repr(name) if not name or any(c in name for c in ", ;'\"") else name


def indices(rows: Iterable[int], most: int = 10) -> str:
    """Row numbers (from 0) as a short list."""
    every = [str(int(r)) for r in rows]
    return listing(every, most)
