"""Samples compared by hashes, in bounded memory.

Of very many samples only those whose hash is in a share of all hashes are kept, the same share for
training and validation. What is counted among these holds for the whole."""

from functools import lru_cache

import numpy as np

from traindx.survey.table import Marks
from traindx.vocabulary import Bools, Floats, Ints

MOST = 1 << 22  # samples whose hashes are kept (48 MiB with their rows)
MIX, SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


def sample_marks(values: Floats) -> Marks:
    """`marks[n]` of the rows of `values[n, p]`. Numbers are compared as float32, so that a copy that was
    stored as such, or written with nine digits, is still one; missing values are equal, and so are 0 and
    -0."""
    with np.errstate(over="ignore", invalid="ignore"):
        short = values.astype(np.float32).astype(np.float64)
    exact = np.where(np.abs(values) < 2.0**53, values, short)
    kept = np.where(values == np.round(values), exact, short) + 0.0
    kept[np.isnan(kept)] = np.nan  # one pattern of bits for all
    bits = np.ascontiguousarray(kept).view(np.uint64)
    mixed = (bits ^ (bits >> np.uint64(32))) * MIX
    mixed ^= mixed >> np.uint64(29)
    total = (mixed * weights(bits.shape[1])).sum(1, dtype=np.uint64)
    total = (total ^ (total >> np.uint64(31))) * SECOND
    return np.asarray(total ^ (total >> np.uint64(30)))


@lru_cache(maxsize=8)
def weights(count: int) -> Marks:
    """Odd numbers without structure (splitmix64)."""
    state = np.arange(1, count + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    state = (state ^ (state >> np.uint64(30))) * MIX
    state = (state ^ (state >> np.uint64(27))) * SECOND
    return np.asarray((state ^ (state >> np.uint64(31))) | np.uint64(1))


class Seen:
    """The marks of a table's samples with their rows and targets, thinned by halves beyond `most`."""

    def __init__(self, most: int = MOST) -> None:
        self.most, self.share = most, 1.0
        self._marks: list[Marks] = []
        self._rows: list[Ints] = []
        self._targets: list[Floats] = []
        self._size = 0

    def add(self, marks: Marks, start: int, targets: Floats | None) -> None:
        keep = in_lowest_share(marks, self.share)
        self._marks.append(marks[keep])
        self._rows.append(start + np.flatnonzero(keep))
        self._targets.append((np.full(len(marks), np.nan) if targets is None else targets)[keep])
        self._size += int(keep.sum())
        while self._size > self.most:
            self.thin(self.share / 2)

    def thin(self, share: float) -> None:
        self.share = share
        marks, rows, targets = self.all()
        keep = in_lowest_share(marks, share)
        self._marks, self._rows, self._targets = [marks[keep]], [rows[keep]], [targets[keep]]
        self._size = int(keep.sum())

    def all(self) -> tuple[Marks, Ints, Floats]:
        """`marks[m]`, `rows[m]`, `targets[m]` that are kept."""
        if not self._marks:
            return np.zeros(0, np.uint64), np.zeros(0, np.int64), np.zeros(0)
        return np.concatenate(self._marks), np.concatenate(self._rows), np.concatenate(self._targets)


def in_lowest_share(marks: Marks, share: float) -> Bools:
    """Which marks fall into the lowest `share` of all."""
    if share >= 1:
        return np.ones(len(marks), dtype=bool)
    return np.asarray(marks <= np.uint64(int(share * 2**64)))


def copies(seen: Seen) -> tuple[Ints, Ints]:
    """Ints that repeat an earlier one, and those of samples that come with different targets."""
    marks, rows, targets = seen.all()
    order = np.lexsort((rows, marks))
    marks, rows, targets = marks[order], rows[order], targets[order]
    same = np.zeros(len(marks), dtype=bool)
    same[1:] = marks[1:] == marks[:-1]
    group = np.cumsum(~same) - 1
    if not len(group):
        return rows, rows
    first = targets[~same][group]
    differs = (targets != first) & ~(np.isnan(targets) | np.isnan(first))
    conflicting = np.zeros(int(group[-1]) + 1, dtype=bool)
    conflicting[group[differs]] = True
    return np.sort(rows[same]), np.sort(rows[conflicting[group]])


def shared_hashes(training: Seen, held_out: Seen) -> tuple[Ints, float]:
    """Ints of `held_out` that are in `training`, and their share of the rows that were compared."""
    share = min(training.share, held_out.share)
    for seen in (training, held_out):
        if seen.share > share:
            seen.thin(share)
    known, _, _ = training.all()
    marks, rows, _ = held_out.all()
    both = np.isin(marks, known)
    return np.sort(rows[both]), float(both.mean()) if len(both) else 0.0
