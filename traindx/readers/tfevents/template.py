"""Thousands of event records at once: records of one length mostly share one layout.

One record is parsed in Python; its layout becomes a template. In all records of that length, the bytes that
the layout fixes (framing, keys, lengths, metadata) are compared as 64-bit words. The other bytes (wall
time, step, tags, values) are read as columns. The checksum of every record is computed as a constant of the
template, a term per known tag and one table entry per open byte. What does not match is left to the general
parser."""

from __future__ import annotations

import struct
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from traindx.readers.raw import RawColumn
from traindx.readers.tfevents.crc import Bytes, Words, mask_crc, of_bytes, term, unmask_crc
from traindx.readers.tfevents.event import Layout, Scalar
from traindx.readers.tfevents.frames import FRAME, HEAD, SLACK
from traindx.vocabulary import Bools, Floats, Ints

CHUNK = 8192  # records handled at a time: their bytes stay in the second-level cache
LONGEST = SLACK - 64  # payload bytes of a record that a template is made for
Longs = NDArray[np.uint64]
# Odd multipliers that mix the words of a tag into its hash.
MULTIPLIERS = np.array([pow(0x9E3779B97F4A7C15, n, 1 << 64) for n in range(1, SLACK // 8)], np.uint64)


class Tags:
    """The known tags at one place of a template: hash -> name's number and checksum term."""

    def __init__(self, scalar: Scalar, mask: Bytes) -> None:
        self.low, self.high = scalar.tag[0] + HEAD, scalar.tag[1] + HEAD
        own = np.zeros_like(mask)
        own[self.low : self.high] = 0xFF
        words = own.view(np.uint64)
        self.words = [(int(i), words[i], MULTIPLIERS[n]) for n, i in enumerate(np.flatnonzero(words))]
        self.hashes = np.zeros(0, np.uint64)
        self.ids = np.zeros(0, np.int32)
        self.terms = np.zeros(0, np.uint32)

    def hash(self, rows: Longs) -> Longs:
        """A number per row that equal tags share; unequal ones too, if rarely: the checksum,
        which is computed for the known tag, then fails, and the general parser reads the record."""
        out = np.zeros(len(rows), np.uint64)
        for index, mask, multiplier in self.words:
            out += (rows[:, index] & mask) * multiplier
        return out

    def find(
        self, rows: Longs, octets: Bytes, length: int, columns: Columns
    ) -> tuple[NDArray[np.int32], Words]:
        """Name numbers and checksum terms of `[m]` rows; number -1 where a name is not kept."""
        hashes = self.hash(rows)
        at = self._find_hashes(hashes)
        new = np.flatnonzero(self.hashes[at] != hashes) if len(self.hashes) else np.arange(len(hashes))
        if len(new):
            self._learn(hashes, new, octets, length, columns)
            at = self._find_hashes(hashes)
        known = self.hashes[at] == hashes if len(self.hashes) else np.zeros(len(at), bool)
        if not len(self.hashes):
            return np.full(len(at), -1, np.int32), np.zeros(len(at), np.uint32)
        ids = self.ids[at] if known.all() else np.where(known, self.ids[at], np.int32(-1))
        return ids, self.terms[at]

    def _find_hashes(self, hashes: Longs) -> Ints:
        if len(self.hashes) == 1:
            return np.zeros(len(hashes), np.int64)
        return np.minimum(np.searchsorted(self.hashes, hashes), max(len(self.hashes) - 1, 0))

    def _learn(self, hashes: Longs, new: Ints, octets: Bytes, length: int, columns: Columns) -> None:
        fresh, first = np.unique(hashes[new], return_index=True)
        tags = octets[new[first], self.low : self.high]
        ids = np.array([columns.identify(t.tobytes()) for t in tags], np.int32)
        kept = ids >= 0
        added = np.zeros(len(fresh), np.uint32)
        for i in range(self.high - self.low):
            added ^= term(HEAD + length - 1 - self.low - i)[tags[:, i]]
        all_hashes = np.concatenate([self.hashes, fresh[kept]])
        order = np.argsort(all_hashes)
        self.hashes = all_hashes[order]
        self.ids = np.concatenate([self.ids, ids[kept]])[order]
        self.terms = np.concatenate([self.terms, added[kept]])[order]


class Template:
    """What records like one given have in common. Offsets count from the head of the record."""

    def __init__(self, record: bytes, found: Layout) -> None:
        self.length = len(record) - FRAME
        self.width = (len(record) + 7) // 8 * 8
        assert found.wall is not None
        self.wall = found.wall[0] + HEAD
        self.step = (found.step[0] + HEAD, found.step[1] + HEAD) if found.step else (0, 0)
        self.values = [(s.at[0] + HEAD, s.code) for s in found.scalars]
        fixed = np.zeros(self.width, np.uint8)
        fixed[: HEAD + self.length] = 0xFF
        fixed[self.wall : self.wall + 8] = 0
        fixed[slice(*self.step)] = 0x80  # of a varint, only the continuation bits
        for scalar in found.scalars:
            fixed[scalar.tag[0] + HEAD : scalar.tag[1] + HEAD] = 0
            fixed[scalar.at[0] + HEAD : scalar.at[1] + HEAD] = 0
        shape = np.zeros(self.width, np.uint8)
        shape[: len(record)] = np.frombuffer(record, np.uint8)
        size = struct.pack("<Q", self.length)
        shape[:HEAD] = np.frombuffer(
            size + mask_crc(np.array([of_bytes(size)], np.uint32)).tobytes(), np.uint8
        )
        self.fixed = [
            (int(i), m, w)
            for i, (m, w) in enumerate(zip(fixed.view("<u8"), (shape & fixed).view("<u8"), strict=True))
            if m
        ]
        self.tags = [Tags(s, fixed) for s in found.scalars]
        self.base = np.uint32(
            of_bytes(
                (np.where(fixed == 0xFF, shape, 0).astype(np.uint8))[HEAD : HEAD + self.length].tobytes()
            )
        )
        spans = [(at, at + struct.calcsize("<" + code)) for at, code in self.values] + [self.step]
        self.open = [i for low, high in spans for i in range(low, high)]

    def matches(self, words: Longs) -> Bools:
        """Which of `[m, width / 8]` rows have this layout; the checksum of their length is among
        what is compared."""
        differ = np.zeros(len(words), np.uint64)
        for index, mask, expected in self.fixed:
            differ |= (words[:, index] & mask) ^ expected
        return np.asarray(differ == 0)

    def decode(self, octets: Bytes, rows: Ints, columns: Columns) -> Ints:
        """Add the scalars of `[m, width]` matching records to `columns`; returns the indices of
        those with a wrong checksum or a name that is not kept, of which nothing was added."""
        words = octets.view(np.uint64)
        crc = self._check(octets)
        found = []
        unsure = np.zeros(len(octets), bool)
        for tags in self.tags:
            ids, added = tags.find(words, octets, self.length, columns)
            crc ^= added
            unsure |= ids < 0
            found.append(ids)
        unsure |= crc != 0
        good = slice(None) if not unsure.any() else ~unsure
        walls, steps = self._column(octets, self.wall, "<f8")[good], self._steps(octets)[good]
        for (at, code), ids in zip(self.values, found, strict=True):
            values = self._column(octets, at, "<" + code)[good].astype(np.float64)
            columns.add(ids[good].astype(np.uint16), rows[good], walls, steps, values)
        return np.flatnonzero(unsure)

    def _check(self, octets: Bytes) -> Words:
        """The stored checksum against all terms but those of the tags; 0 where all is well."""
        crc = unmask_crc(self._column(octets, HEAD + self.length, "<u4").astype(np.uint32)) ^ self.base
        walls = self._column(octets, self.wall, "<u8").astype(np.uint64)
        moving = int(np.bitwise_or.reduce(walls ^ walls[0]))
        last = HEAD + self.length - 1
        for i in range(8):
            at = self.wall + i
            if moving >> (8 * i) & 0xFF:
                crc ^= term(last - at)[octets[:, at]]
            else:  # the same byte in every row: the high bytes of a clock
                crc ^= term(last - at)[octets[0, at]]
        for at in self.open:
            crc ^= term(last - at)[octets[:, at]]
        return crc

    def _steps(self, octets: Bytes) -> Ints:
        low, high = self.step
        out = np.zeros(len(octets), np.uint64)
        for i, at in enumerate(range(low, high)):
            out |= (octets[:, at] & np.uint8(0x7F)).astype(np.uint64) << np.uint64(7 * i)
        return out.view(np.int64)

    def _column(self, octets: Bytes, at: int, code: str) -> np.ndarray:
        """The numbers at one offset of every row, without a copy."""
        return np.ndarray((len(octets),), code, octets, at, (octets.shape[1],))


def gather(buffer: Bytes, starts: Ints, width: int) -> Bytes:
    """`width` bytes from each start; shape `[n, width]`. Fancy indexing of an overlapping view
    copies row by row; `take` would first copy the whole view."""
    view = np.ndarray((len(buffer) - width + 1,), f"V{width}", buffer, 0, (1,))
    return view[starts].view(np.uint8).reshape(-1, width)


FIRST = 1 << 14  # values there is room for at the beginning
Number = TypeVar("Number", bound=np.generic)
MOST_NAMES = 20_000  # further names are counted, not kept: a log with more holds no readable curves


class Columns:
    """Scalars in the order they were decoded: five growing arrays, and the names behind `ids`."""

    def __init__(self) -> None:
        self.names: dict[bytes, int] = {}
        self.unnamed = 0  # values left out because there were too many names
        self.count = 0
        self._ids: NDArray[np.uint16] = np.empty(FIRST, np.uint16)
        self._rows: Ints = np.empty(FIRST, np.int64)
        self._floats: list[Floats] = [np.empty(FIRST) for _ in range(3)]  # wall times, steps, values

    def identify(self, name: bytes) -> int:
        """The number of a name, or -1 when there are too many."""
        known = self.names.get(name)
        if known is None:
            if len(self.names) >= MOST_NAMES:
                return -1
            known = self.names[name] = len(self.names)
        return known

    def add(
        self, ids: NDArray[np.uint16], rows: Ints, walls: Floats, steps: Ints | Floats, values: Floats
    ) -> None:
        """Append `[n]` scalars; `rows` are the numbers of their records."""
        low, high = self.count, self.count + len(ids)
        if high > len(self._ids):
            self._grow(max(high, 2 * len(self._ids)))
        self._ids[low:high] = ids
        self._rows[low:high] = rows
        for own, given in zip(self._floats, (walls, steps, values), strict=True):
            own[low:high] = given
        self.count = high

    def _grow(self, size: int) -> None:
        self._ids = _grow_array(self._ids, self.count, size)
        self._rows = _grow_array(self._rows, self.count, size)
        self._floats = [_grow_array(a, self.count, size) for a in self._floats]

    def split(self) -> dict[str, RawColumn]:
        """One column per name, each in the order of its records. Empties this object."""
        ids = self._ids[: self.count]
        order = np.argsort(ids, kind="stable")
        rows = self._rows[order]
        bounds = np.searchsorted(ids[order], np.arange(len(self.names) + 1))
        if not _is_rising(rows, bounds):
            order = order[np.lexsort((rows, ids[order]))]
            rows = self._rows[order]
        self._rows = np.empty(0, np.int64)
        walls, steps, values = (self._take(i, order) for i in range(3))
        out: dict[str, RawColumn] = {}
        for name, low, high in zip(self.names, bounds, bounds[1:], strict=False):
            if low < high:
                text = name.decode("utf-8", "replace")
                while text in out:  # names that differ only in bytes that are no text
                    text += "'"
                out[text] = RawColumn(values[low:high], rows[low:high], steps[low:high], walls[low:high])
        return out

    def _take(self, which: int, order: Ints) -> Floats:
        taken: Floats = self._floats[which][order]
        self._floats[which] = np.empty(0)  # give the memory back before the next one is taken
        return taken


def _grow_array(array: NDArray[Number], kept: int, size: int) -> NDArray[Number]:
    out = np.empty(size, array.dtype)
    out[:kept] = array[:kept]
    return out


def _is_rising(rows: Ints, bounds: Ints) -> bool:
    """Whether rows never fall within a name."""
    return bool(np.isin(np.flatnonzero(rows[1:] < rows[:-1]) + 1, bounds).all())
