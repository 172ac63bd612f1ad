"""One pass over a table: some statistics need every row, and a uniform sample of the rows is kept."""

from collections.abc import Callable

import msgspec
import numpy as np
from numpy.typing import NDArray

from traindx.survey.hashes import Seen, sample_marks
from traindx.survey.table import Chunk, Marks, Objects, Table
from traindx.vocabulary import Bools, Floats, Ints

SAMPLE_ROWS, SAMPLE_CELLS = 50_000, 1 << 23  # of the sample: 64 MiB
NAMED = 1000  # row numbers kept for each kind of problem
WINDOW = 32  # rows that count as a batch for the order of the rows
REPORTS = 1_000_000  # rows from which progress is reported

Progress = Callable[[int, int | None], None]


class Columns:
    """Count, mean, spread, range, and what is missing of each feature, over all rows."""

    def __init__(self, width: int) -> None:
        self.rows = 0
        self.count = np.zeros(width, np.int64)
        self.mean, self.squares = np.zeros(width), np.zeros(width)
        self.low, self.high = np.full(width, np.inf), np.full(width, -np.inf)
        self.missing, self.nonfinite = np.zeros(width, np.int64), np.zeros(width, np.int64)
        self.bits: Marks = np.zeros(width, np.uint64)

    @np.errstate(over="ignore", invalid="ignore")  # the spread of values near the float limit is infinite
    def add(self, chunk: Chunk) -> None:
        values = chunk.features
        finite = np.isfinite(values)
        empty = np.zeros(values.shape, dtype=bool) if chunk.empty is None else chunk.empty
        self.missing += empty.sum(0)
        self.nonfinite += (~finite & ~empty).sum(0)
        count = finite.sum(0)
        proper = np.where(finite, values, 0.0)
        mean = proper.sum(0) / np.maximum(count, 1)
        squares = np.square(np.where(finite, values - mean, 0.0)).sum(0)
        both = np.maximum(self.count + count, 1)
        apart = mean - self.mean
        self.squares += squares + np.square(apart) * self.count * count / both
        self.mean += apart * count / both
        self.count += count
        self.low = np.fmin(self.low, np.where(finite, values, np.inf).min(0, initial=np.inf))
        self.high = np.fmax(self.high, np.where(finite, values, -np.inf).max(0, initial=-np.inf))
        self.bits += fingerprint(proper, self.rows)
        self.rows += len(values)

    @property
    def std(self) -> Floats:
        return np.asarray(np.sqrt(self.squares / np.maximum(self.count, 1)))

    @property
    def constant(self) -> Bools:
        """Features with at most one value, over at least two rows."""
        return np.asarray((self.high <= self.low) | (self.count == 0)) & (self.rows > 1)


def fingerprint(values: Floats, start: int) -> Marks:
    """A hash of each column that depends on the rows' order and can be added up over chunks."""
    bits = np.ascontiguousarray(values + 0.0).view(np.uint64)
    place = np.arange(start + 1, start + len(values) + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (bits ^ (bits >> np.uint64(32))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed ^= mixed >> np.uint64(29)
    return np.asarray((mixed * (place | np.uint64(1))[:, None]).sum(0, dtype=np.uint64))


class Sample(msgspec.Struct):
    """Rows sampled uniformly: `rows[m]` (ascending), `features[m, p]`, `target[m]`, `sensitive[m]`, `texts`
    (`object[m]` each)."""

    rows: Ints
    features: Floats
    target: Floats
    sensitive: Floats
    texts: tuple[Objects, ...]
    whole: bool = True


class Reservoir:
    """A uniform sample of the rows: each row draws a number, and the smallest are kept."""

    def __init__(self, width: int, seed: int = 0) -> None:
        self.most = max(100, min(SAMPLE_ROWS, SAMPLE_CELLS // max(width, 1)))
        self._chance = np.random.default_rng(seed)
        self._parts: list[tuple[NDArray[np.generic], ...]] = []
        self._size, self._bound, self._seen = 0, 1.0, 0

    def add(self, chunk: Chunk) -> None:
        n = len(chunk.features)
        keys = self._chance.random(n)
        keep = np.flatnonzero(keys < self._bound)
        none = np.full(n, np.nan)
        target = none if chunk.target is None else chunk.target
        groups = none if chunk.sensitive is None else chunk.sensitive
        held = (keys, np.arange(chunk.start, chunk.start + n), chunk.features, target, groups, *chunk.texts)
        self._parts.append(tuple(part[keep] for part in held))
        self._size += len(keep)
        self._seen += n
        if self._size > 2 * self.most:
            self._shrink()

    def _shrink(self) -> None:
        joined = tuple(np.concatenate(parts) for parts in zip(*self._parts, strict=True))
        if len(joined[0]) > self.most:
            keep = np.argpartition(joined[0], self.most)[: self.most]
            self._bound = float(joined[0][keep].max())
            joined = tuple(part[keep] for part in joined)
        self._parts, self._size = [joined], len(joined[0])

    def sample(self) -> Sample:
        self._shrink()
        order = np.argsort(self._parts[0][1])
        _, rows, features, target, groups, *texts = (part[order] for part in self._parts[0])
        return Sample(rows, features, target, groups, tuple(texts), whole=len(rows) == self._seen)  # type: ignore[arg-type]


class Gathered:
    """Everything that one pass over a table produces."""

    def __init__(self, table: Table) -> None:
        width = len(table.fields)
        self.table = table
        self.columns = Columns(width)
        self.seen = Seen()
        self.reservoir = Reservoir(width)
        self.classes: dict[float, int] = {}
        self.target = Columns(1)
        self.inconvertible = 0
        self.rows_missing: list[int] = []
        self.rows_nonfinite: list[int] = []
        self.pairs, self.same = 0.0, 0.0

    @property
    def rows(self) -> int:
        return self.columns.rows

    def add(self, chunk: Chunk) -> None:
        self.columns.add(chunk)
        marks = sample_marks(chunk.features) if chunk.marks is None else chunk.marks
        self.seen.add(marks, chunk.start, chunk.target)
        self.reservoir.add(chunk)
        self.inconvertible += chunk.inconvertible
        self._remember(chunk)
        if chunk.target is not None:
            self._targets(chunk.target)

    def _remember(self, chunk: Chunk) -> None:
        bad = ~np.isfinite(chunk.features)
        if not bad.any():
            return
        empty = np.zeros_like(bad) if chunk.empty is None else chunk.empty
        for kept, which in ((self.rows_missing, empty), (self.rows_nonfinite, bad & ~empty)):
            if len(kept) < NAMED:
                kept += (chunk.start + np.flatnonzero(which.any(1))).tolist()[: NAMED - len(kept)]

    def _targets(self, target: Floats) -> None:
        self.target.add(Chunk(0, target[:, None], empty=np.isnan(target)[:, None]))
        values, inverse, counts = np.unique(
            target[np.isfinite(target)], return_inverse=True, return_counts=True
        )
        if len(self.classes) <= NAMED * 10:
            for value, count in zip(values.tolist(), counts.tolist(), strict=True):
                self.classes[value] = self.classes.get(value, 0) + count
        whole = len(inverse) // WINDOW * WINDOW
        if whole and len(values) <= NAMED:
            windows = np.sort(inverse[:whole].reshape(-1, WINDOW), axis=1)
            self._runs(np.diff(windows, axis=1) != 0)

    def _runs(self, edges: Bools) -> None:
        """Pairs of rows within a window that share their class, from the sorted windows' edges."""
        ends = np.concatenate([edges, np.ones((len(edges), 1), dtype=bool)], axis=1)
        flat = np.flatnonzero(ends.reshape(-1))
        lengths = np.diff(flat, prepend=-1)
        self.same += float((lengths * (lengths - 1.0)).sum())
        self.pairs += len(edges) * WINDOW * (WINDOW - 1.0)


def gather(table: Table, progress: Progress | None = None) -> Gathered:
    """Read a table once. `progress(rows, of)` is called during a long one."""
    found = Gathered(table)
    for chunk in table.chunks():
        found.add(chunk)
        if progress is not None and max(found.rows, table.rows or 0) > REPORTS:
            progress(found.rows, table.rows)
    return found
