"""Thousands of event records at once: records of one length mostly share one layout.

One record is parsed in Python; its layout becomes a template. Of all records of that length the
bytes that the layout fixes (framing, keys, lengths, metadata) are compared as 64-bit words, those
it leaves open (wall time, step, tags, values) are read as columns. The checksum of every record is
computed as a constant of the template, a term per known tag and one table entry per open byte.
What does not match is left to the general parser.
"""

from __future__ import annotations

import struct

import numpy as np
from numpy.typing import NDArray

from traindx.readers.tfevents.columns import Columns
from traindx.readers.tfevents.crc import Bytes, Words, masked, of_bytes, term, unmasked
from traindx.readers.tfevents.event import Layout, Scalar
from traindx.readers.tfevents.frames import FRAME, HEAD, SLACK
from traindx.vocabulary.run import Ints

CHUNK = 8192  # records handled at a time: their bytes stay in the second-level cache
LONGEST = SLACK - 64  # payload bytes of a record that a template is made for
Bools = NDArray[np.bool_]
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
        at = self._look_up(hashes)
        new = np.flatnonzero(self.hashes[at] != hashes) if len(self.hashes) else np.arange(len(hashes))
        if len(new):
            self._learn(hashes, new, octets, length, columns)
            at = self._look_up(hashes)
        known = self.hashes[at] == hashes if len(self.hashes) else np.zeros(len(at), bool)
        if not len(self.hashes):
            return np.full(len(at), -1, np.int32), np.zeros(len(at), np.uint32)
        ids = self.ids[at] if known.all() else np.where(known, self.ids[at], np.int32(-1))
        return ids, self.terms[at]

    def _look_up(self, hashes: Longs) -> Ints:
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
            size + masked(np.array([of_bytes(size)], np.uint32)).tobytes(), np.uint8
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
        crc = unmasked(self._column(octets, HEAD + self.length, "<u4").astype(np.uint32)) ^ self.base
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
