"""Rows of a table, block after block, into columns; also rows that become wider or narrower under one
header.

A program that logs a number more since it was changed, and appends to the same file, writes no second
header. The columns keep their order, and their values go on from where they were, or begin again as they
began."""

from collections.abc import Sequence
from itertools import combinations
from math import comb

import numpy as np

from traindx.features.statistics import median
from traindx.readers.tables.columns import Columns, in_split, number, plain_numbers
from traindx.readers.tables.layout import DECIMAL_COMMA, LEAST, Layout, header_names, is_number, split_line
from traindx.vocabulary import Floats, Ints

KEPT_MISFITS = 8
MOST_TRIED = 8  # times that rows of another width are looked at closely


class Rows:
    """A table while it is read: `row` rows so far, `line` the next line of the file (from 1)."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.names = layout.names
        self.split = layout.split
        self.columns = Columns()
        self.row, self.line = 0, 1
        self.ended = True  # whether the last line had its line end
        self.boundaries: list[int] = []
        self.marks: list[tuple[int, int]] = []
        self.strange: dict[str, int] = {}
        self.misfits: list[tuple[int, int]] = []  # line, cells of the first few
        self.misfit_count = 0
        self.waiting: list[
            tuple[int, list[str]]
        ] = []  # line and cells of the last rows, where all have another width
        self.tried = 0
        self.widths: list[tuple[int, tuple[str, ...]]] = []  # line, names from there on

    def numeric(self) -> list[tuple[int, str]]:
        """Index and name of the columns that are not words."""
        words = {self.layout.names[i] for i in self.layout.text}
        return [(i, name) for i, name in enumerate(self.names) if name not in words]

    def add_arrays(self, block: bytes, count: int, arrays: list[tuple[Floats, Ints | None]]) -> None:
        """A block of `count` lines, as one (values, rows or None) for each numeric column."""
        self.marks.append((self.row, self.line))
        for (_, name), (values, there) in zip(self.numeric(), arrays, strict=True):
            whole = range(self.row, self.row + count)
            self.columns.add(name, values, whole if there is None else there + self.row)
        self.row += count
        self.ended = block.endswith(b"\n")
        self.line += count

    def add_block(self, block: bytes) -> None:
        """The lines of a block."""
        self.ended = block.endswith(b"\n")
        lines = block.decode("utf-8", "replace").removesuffix("\n").split("\n")
        if not self.add_regular(block, lines):
            self.add_lines(lines)
        self.line += len(lines)

    def add_regular(self, block: bytes, lines: list[str]) -> bool:
        """Take lines that all have the right number of cells, each a plain number; else do nothing."""
        delimiter = None if self.layout.delimiter == " " else self.layout.delimiter
        if b'"' in block or self.layout.decimal_comma or self.split is not None:
            return False
        rows = [line.split(delimiter) for line in lines]
        if set(map(len, rows)) != {len(self.names)}:
            return False
        cells = list(zip(*rows, strict=True))
        arrays = [plain_numbers(cells[i]) for i, _ in self.numeric()]
        if any(values is None for values in arrays):
            return False
        self.marks.append((self.row, self.line))
        for (_, name), values in zip(self.numeric(), arrays, strict=True):
            assert values is not None
            self.columns.add(name, values, range(self.row, self.row + len(lines)))
        self.row += len(lines)
        return True

    def add_lines(self, lines: Sequence[str]) -> None:
        """Take lines one by one: blank ones, headers and misfits may be among them."""
        pending: list[list[str]] = []
        broken = True  # whether the next row does not follow the last one's line
        for line_number, line in enumerate(lines, self.line):
            if not line.strip():
                broken = True
                continue
            cells = split_line(line, self.layout.delimiter)
            if self.is_header(cells):
                self.flush(pending)
                self.waiting.clear()
                pending, broken = [], True
                self.names = header_names(tuple(cells), len(cells))
                self.boundaries.append(self.row)
                continue
            if len(cells) > len(self.names) and not "".join(cells[len(self.names) :]).strip():
                del cells[len(self.names) :]
            if len(cells) != len(self.names):
                if self.skip_misfit(line_number, cells):
                    self.flush(pending)
                    pending = self.resolve_waiting()
                broken = True
                continue
            self.waiting.clear()
            if broken:
                self.marks.append((self.row + len(pending), line_number))
                broken = False
            pending.append(cells)
        self.flush(pending)

    def is_header(self, cells: list[str]) -> bool:
        """Whether a row in the middle is the header again, perhaps with other names: no numbers,
        nothing empty, and at least one name that is known (two, if there are more)."""
        if not self.layout.header or cells[0][:1].isdigit():
            return False
        names = {cell.strip() for cell in cells}
        if "" in names or len(names) < len(cells):
            return False
        known = len(names & set(self.names))
        return known >= min(2, len(self.names), len(names)) and not any(is_number(c, False) for c in cells)

    def skip_misfit(self, line: int, cells: list[str]) -> bool:
        """Leave out a row of another width; whether it is the last of `LEAST` similar ones, which may have
        their own names."""
        self.misfit_count += 1
        if len(self.misfits) < KEPT_MISFITS:
            self.misfits.append((line, len(cells)))
        if self.waiting and len(self.waiting[0][1]) != len(cells):
            self.waiting.clear()
        if len(self.waiting) == LEAST or self.tried == MOST_TRIED:
            return False
        self.waiting.append((line, cells))
        return len(self.waiting) == LEAST

    def resolve_waiting(self) -> list[list[str]]:
        """The rows that wait, if it is clear which of their cells is which column: their names are now
        `names`."""
        self.tried += 1
        mark = "," if self.layout.decimal_comma else "."
        cells = [[number(cell.replace(mark, ".")) for cell in row] for _, row in self.waiting]
        known = {name: grown.ends(LEAST) for name, grown in self.columns.values.items()}
        names = names_of(self.names, known, np.array(cells, dtype=np.float64))
        if names is None:
            return []
        lines = [line for line, _ in self.waiting]
        taken, first = [cells for _, cells in self.waiting], lines[0]
        self.waiting.clear()
        self.names = names
        self.misfit_count -= LEAST
        self.misfits = [m for m in self.misfits if m[0] < first]
        self.widths.append((first, names))
        self.marks += [
            (self.row + i, line) for i, line in enumerate(lines) if not i or line != lines[i - 1] + 1
        ]
        return taken

    def flush(self, pending: list[list[str]]) -> None:
        """Rows of the right width into columns; cells may be empty or words."""
        if not pending:
            return
        rows = range(self.row, self.row + len(pending))
        split = self.split if self.names == self.layout.names else None
        if split is None:
            self.add_cells(pending, rows, "")
        else:
            for word in dict.fromkeys(cells[split].strip() for cells in pending):
                chosen = [i for i, cells in enumerate(pending) if cells[split].strip() == word]
                self.add_cells([pending[i] for i in chosen], [rows[i] for i in chosen], word)
        self.row += len(pending)

    def add_cells(self, pending: list[list[str]], rows: Sequence[int], split: str) -> None:
        """The numbers of rows of cells; of a split, under its name."""
        cells = list(zip(*pending, strict=True))
        for i, name in self.numeric():
            column: Sequence[str] = cells[i]
            if self.layout.decimal_comma:
                column = [c.replace(",", ".") if DECIMAL_COMMA.fullmatch(c) else c for c in column]
            known = in_split(name, split) if split else name
            plain = plain_numbers(column)
            if plain is not None:
                self.columns.add(
                    known, plain, rows if isinstance(rows, range) else np.array(rows, dtype=np.int64)
                )
            elif strange := self.columns.add_cells(known, column, rows):
                self.strange[known] = self.strange.get(known, 0) + strange


MOST_WAYS = 2_000  # of laying cells under columns that are tried
PART = 0.02  # of a value that it may differ from the one before, in addition to the noise
FAR = 2.0  # mean cost of a column (log of 1 + distance in noise) beyond which nothing fits
CLOSE = 0.5  # cost by which the best way has to lead for its choice to be believed
WORD = 10.0  # cost of numbers where words were, or the other way round


def names_of(names: Sequence[str], known: dict[str, Floats], cells: Floats) -> tuple[str, ...] | None:
    """Names for rows of another width: `cells[LEAST, w]`, NaN where no number is. `known[name][n]` are
    numbers that were under a name, the first and the last of them; a name without any held words.

    Cells that belong to no column, or possibly to one of several, are called c<place>. None where
    no way fits."""
    width, count = cells.shape[1], len(names)
    fewer = min(width, count)
    if fewer < 2 or comb(max(width, count), fewer) > MOST_WAYS:
        return None
    best: tuple[float, list[str]] | None = None
    for part in (
        slice(-1, -LEAST - 1, -1),
        slice(LEAST),
    ):  # goes on from the last row, or begins as the first did
        rows = [known.get(name, np.empty(0))[part] for name in names]
        costs = np.array([[cost(row, cells[:, j]) for j in range(width)] for row in rows])
        found = lay_cells(names, costs, fewer)
        if best is None or found[0] < best[0]:
            best = found
    assert best is not None
    return tuple(best[1]) if best[0] <= FAR * fewer and set(names) & set(best[1]) else None


def lay_cells(names: Sequence[str], costs: Floats, fewer: int) -> tuple[float, list[str]]:
    """The least cost of laying cells under columns in their order, and the names that all ways of about that
    cost agree on. `costs[column, cell]`."""
    columns, width = costs.shape
    ways = []
    for chosen in combinations(range(max(columns, width)), fewer):
        pairs = list(zip(chosen, range(width), strict=True) if columns > width else enumerate(chosen))
        ways.append((float(sum(costs[pair] for pair in pairs)), pairs))
    ways.sort()
    near = [{j: names[i] for i, j in pairs} for total, pairs in ways if total <= ways[0][0] + CLOSE]
    first = near[0]
    agreed = [
        first.get(j) if all(way.get(j) == first.get(j) for way in near) else None for j in range(width)
    ]
    return ways[0][0], [name or f"c{j}" for j, name in enumerate(agreed)]


def cost(near: Floats, after: Floats) -> float:
    """How badly values go with others: the log of the distance of the first of each in units of their own
    noise."""
    a, b = near[np.isfinite(near)], after[np.isfinite(after)]
    if not len(a) or not len(b):
        return 0.0 if not len(a) and not len(b) else WORD
    noise = float(median(np.abs(np.diff(a)))) if len(a) > 1 else 0.0
    return float(np.log1p(abs(b[0] - a[0]) / (noise + PART * abs(a[0]) + 1e-12)))
