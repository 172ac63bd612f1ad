"""Numbers out of cells and JSON values, and their collection by name, chunk by chunk."""

import re
from collections.abc import Sequence
from contextlib import suppress
from itertools import pairwise

import numpy as np

from traindx.readers.raw import RawColumn
from traindx.vocabulary import Event, Floats, Ints

MAX_NAMES = 20_000  # a log with more names than this is not read to the end of them
PIECE = 1 << 16  # cells taken at a time: as Python's numbers they take eight times as much memory
MISSING = frozenset({"", "na", "n/a", "<na>", "none", "-", "--"})
NULL = "null"
SPLITS = frozenset({"train", "training", "val", "valid", "validation", "eval", "evaluation", "test", "dev"})
COUNTERS = frozenset({"step", "epoch", "iteration", "iter", "global_step", "num_updates", "_step", "time", "timestamp",
                      "_timestamp", "_runtime", "wall_time", "samples", "tokens", "batch", "index"})  # fmt: skip
NOT_A_NUMBER = frozenset(
    {"-nan", "+nan", "nan(ind)", "-nan(ind)", "1.#qnan", "-1.#ind", "1.#ind", "-1.#qnan"}
)
OVERFLOWED = {"1.#inf": np.inf, "-1.#inf": -np.inf}
# What printing a tensor or a numpy scalar instead of its value leaves in a cell.
WRAPPED = re.compile(
    r"(?:tensor|np\.float\d+|array)?\(?\[?\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?|[-+]?nan|[-+]?inf)"
    r"(?:\]|\)|,[^()]{0,80}\)){1,3}",
    re.IGNORECASE,
)


def number(value: object) -> float | None:
    """The number in a cell or JSON value; None when there is none (booleans are no numbers)."""
    if isinstance(value, str):
        return text_number(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value)
    except OverflowError:
        return np.inf if value > 0 else -np.inf


def in_split(name: str, split: str) -> str:
    """The name of a column in rows that say which split they are of; counters count for all."""
    return name if name.lower() in COUNTERS else f"{split.strip().lower()}/{name}"


def text_number(text: str) -> float | None:
    """The number that a text means: plain, one of the spellings of NaN, with % or a wrapper."""
    word = text.strip()
    if "_" not in word:
        with suppress(ValueError):
            return float(word)
    word = word[:200].lower()
    if word in NOT_A_NUMBER:
        return np.nan
    if word in OVERFLOWED:
        return OVERFLOWED[word]
    if word.endswith("%"):
        return text_number(word[:-1]) if len(word) < 40 else None
    wrapped = WRAPPED.fullmatch(word)
    return float(wrapped[1]) if wrapped else None


def plain_numbers(cells: Sequence[str]) -> Floats | None:
    """The numbers in cells that all hold a plain one; None where one needs a closer check (float() takes
    1_000, which no log means)."""
    if "_" in "".join(cells):
        return None
    try:
        return np.array(list(map(float, cells)), dtype=np.float64)
    except ValueError:
        return None


class Growing:
    """Numbers that become more; the array grows in place, so that reading never holds them twice."""

    def __init__(self) -> None:
        self.array: Floats = np.empty(0)
        self.size = 0

    def extend(self, values: Floats) -> None:
        needed = self.size + len(values)
        if needed > len(self.array):
            self.array.resize(max(needed, self.size * 9 // 8), refcheck=False)
        self.array[self.size : needed] = values
        self.size = needed

    def ends(self, count: int) -> Floats:
        """The first `count` numbers and the last."""
        return np.concatenate(
            [self.array[: min(count, self.size)], self.array[max(self.size - count, 0) : self.size]]
        )

    def finish(self) -> Floats:
        self.array.resize(self.size, refcheck=False)
        return self.array


class Columns:
    """Columns under construction. Rows of one name must come in ascending order, or `sort` it."""

    def __init__(self) -> None:
        self.values: dict[str, Growing] = {}
        self.rows: dict[str, list[range | Ints]] = {}
        self.nulls: dict[str, list[int]] = {}
        self.refused = 0

    def add(self, name: str, values: Floats, rows: range | Ints) -> None:
        """`values[n]` of `name` in `rows[n]`."""
        if not len(values):
            return
        if name not in self.values and len(self.values) >= MAX_NAMES:
            self.refused += 1
            return
        self.values.setdefault(name, Growing()).extend(values)
        self.rows.setdefault(name, []).append(rows)

    def add_cells(self, name: str, cells: Sequence[object], rows: Sequence[int]) -> int:
        """Add what is a number among `cells`, remember nulls; returns how many were neither."""
        pieces = (slice(at, at + PIECE) for at in range(0, len(cells), PIECE))
        return sum(self.add_piece(name, cells[piece], rows[piece]) for piece in pieces)

    def add_piece(self, name: str, cells: Sequence[object], rows: Sequence[int]) -> int:
        values: list[float] = []
        kept: list[int] = []
        strange = 0
        for cell, row in zip(cells, rows, strict=True):
            value = number(cell)
            if value is not None:
                values.append(value)
                kept.append(row)
            elif cell is None or (isinstance(cell, str) and cell.strip().lower() == NULL):
                self.nulls.setdefault(name, []).append(row)
            elif not (isinstance(cell, str) and cell.strip().lower() in MISSING):
                strange += 1
        same = isinstance(rows, range) and len(kept) == len(rows) and rows.step == 1
        self.add(name, np.array(values, dtype=np.float64), rows if same else np.array(kept, dtype=np.int64))  # type: ignore[arg-type]
        return strange

    def finish(self, events: list[Event]) -> dict[str, RawColumn]:
        """The finished columns, in the order of first appearance."""
        shared: dict[tuple[int, int], Ints] = {}
        built: dict[str, RawColumn] = {}
        for name, values in self.values.items():
            column = _column(values.finish(), self.rows[name], shared)
            nulls = np.array(sorted(self.nulls.get(name, ())), dtype=np.int64)
            diverged = trailing_nulls(column.rows, nulls)
            if len(diverged):
                text = f"{name[:80]} is null in its last {len(diverged)} rows; taken as NaN"
                events.append(
                    Event("log-suspect", text, place=f"row {int(diverged[0]) + 1}", code="null-as-nan")
                )
                column = RawColumn(
                    np.concatenate([column.values, np.full(len(diverged), np.nan)]),
                    np.concatenate([column.rows, diverged]),
                )
            built[name] = column
        if self.refused:
            events.append(
                Event("parse-warning", f"more than {MAX_NAMES} names; the later ones were left out")
            )
        return built


def _column(values: Floats, pieces: list[range | Ints], shared: dict[tuple[int, int], Ints]) -> RawColumn:
    """A column with its rows joined; columns that fill the same unbroken rows share one array."""
    spans = [rows for rows in pieces if isinstance(rows, range)]
    if len(spans) == len(pieces) and all(a.stop == b.start for a, b in pairwise(spans)):
        key = (spans[0].start, spans[-1].stop)
        if key not in shared:
            shared[key] = np.arange(*key, dtype=np.int64)
        return RawColumn(values, shared[key])
    rows = np.concatenate([np.asarray(piece, dtype=np.int64) for piece in pieces])
    if (np.diff(rows) < 0).any():
        order = np.argsort(rows, kind="stable")
        values, rows = values[order], rows[order]
    return RawColumn(values, rows)


def trailing_nulls(numbers: Ints, nulls: Ints, *, least: int = 3) -> Ints:
    """The null rows that mean NaN: writers of strict JSON turn NaN into null, but null also says
    "not logged here". Only an ending of at least `least` nulls, longer than every null stretch
    before it, is taken as a loss that became NaN. `numbers[n]`, `nulls[m]` are ascending rows."""
    if not len(numbers) or len(nulls) < least:
        return np.empty(0, dtype=np.int64)
    ending: Ints = nulls[nulls > numbers[-1]]
    earlier: Ints = np.searchsorted(numbers, nulls[: len(nulls) - len(ending)])
    longest = int(np.bincount(earlier).max()) if len(earlier) else 0
    return ending if len(ending) >= max(least, longest + 1) else np.empty(0, dtype=np.int64)
