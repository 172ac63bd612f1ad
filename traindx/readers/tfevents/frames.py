"""TFRecord framing: where the records of a stream begin and end, and what is damaged.

    record = length (8 bytes, little endian), masked CRC32C of it (4), payload, masked CRC32C of it (4)

Event files are walked without a loop over records. A scan marks every place that may be the head
of a record (a length under 64 KiB before a payload that begins with an event's first field); where
each mark's length leads exactly to the next mark, the whole chain is proven at once. Only breaks
in the chain (large records, false marks, damage) are looked at one by one, by the head's checksum.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

import numpy as np

from traindx.readers.tfevents.crc import Bytes, mask_crc, of_bytes, terms
from traindx.vocabulary import Ints

SEGMENT = 16 << 20  # bytes held at a time
SLACK = 4096  # readable bytes behind the data, so that rows may be gathered past its end
SCAN = 1 << 18  # bytes scanned at a time: stays in the second-level cache
HEAD, FRAME = 12, 16  # bytes before the payload; bytes around it
LARGEST = 1 << 28  # a longer record is taken for damage: no event is that large
WALL_KEY = 9  # field 1, fixed64: how every event begins


class Damage(NamedTuple):
    """Bytes `at <= byte < until` of the file are lost, because of `why`."""

    at: int
    until: int
    why: str


class Frames(NamedTuple):
    """Records of one stretch: payload i is `buffer[starts[i] + 12 :][: lengths[i]]`. `buffer` is
    reused for the next stretch and has SLACK bytes behind its end; `base` is its place in the file."""

    buffer: Bytes
    starts: Ints
    lengths: Ints
    base: int


class FrameReader:
    """Iterates over a stream in stretches of whole records. Afterwards `damage` lists what was
    lost in the middle, and `tail` is the place of a record cut short at the end, or None, and
    `broken` says why a compressed stream could not be read to its end."""

    def __init__(self, stream: BinaryIO, segment: int = SEGMENT) -> None:
        self.stream, self.segment = stream, segment
        self.damage: list[Damage] = []
        self.tail: int | None = None
        self.broken = ""

    def __iter__(self) -> Iterator[Frames]:
        buffer = np.empty(self.segment + SLACK, np.uint8)
        base = held = 0
        wanted, lost = HEAD, False
        while True:
            room = max(self.segment, wanted)
            if room + SLACK > len(buffer):
                buffer = np.concatenate([buffer[:held], np.empty(room + SLACK - held, np.uint8)])
            got = self._fill(buffer, held, room)
            end = held + got
            last = end < room
            chain = _Chain(buffer, end, base, self.damage, lost)
            yield Frames(buffer, *chain.records(), base)
            if last:
                self._close(base, chain, end)
                return
            held, wanted, lost = end - chain.at, chain.wanted, chain.lost
            buffer[:held] = buffer[chain.at : end].copy()
            base += chain.at

    def _fill(self, buffer: Bytes, begin: int, end: int) -> int:
        got = 0
        while begin + got < end:
            try:  # one read at a time: what came before a broken compressed block is kept
                part = self.stream.readinto1(buffer.data[begin + got : end])  # type: ignore[attr-defined]
            except EOFError as error:
                self.broken = str(error)
                break
            if not part:
                break
            got += part
        return got

    def _close(self, base: int, chain: _Chain, end: int) -> None:
        if chain.lost:
            self.damage[-1] = self.damage[-1]._replace(until=base + end)
        elif chain.at < end:
            self.tail = base + chain.at


class _Chain:
    """The records of `buffer[:end]`, which begins at byte `base` of the file. `at` is where the
    next stretch has to begin; `wanted` the bytes it must hold; `lost` whether it begins in damage."""

    def __init__(self, buffer: Bytes, end: int, base: int, damage: list[Damage], lost: bool) -> None:
        self.buffer, self.end, self.base, self.damage, self.lost = buffer, end, base, damage, lost
        self.at, self.wanted = 0, HEAD
        self.sound: Ints | None = None
        self.marks = marks(buffer, end)
        self.sizes = _short_lengths(buffer, self.marks)
        for _ in range(4):  # false marks break chains: take out those whose checksum says so
            self.nexts = self.marks + self.sizes + FRAME
            self.breaks = np.flatnonzero(self.nexts[:-1] != self.marks[1:])
            suspects = np.concatenate([self.breaks, self.breaks + 1])
            false = suspects[~_heads_hold(buffer, self.marks[suspects], self.sizes[suspects])]
            if not len(false):
                break
            self.marks, self.sizes = np.delete(self.marks, false), np.delete(self.sizes, false)

    def records(self) -> tuple[Ints, Ints]:
        """Starts and lengths of all whole records, in order."""
        starts: list[Ints] = []
        lengths: list[Ints] = []
        if self.lost and not self._resync():
            return np.zeros(0, np.int64), np.zeros(0, np.int64)
        while True:
            first = int(np.searchsorted(self.marks, self.at))
            if first < len(self.marks) and self.marks[first] == self.at:
                stop = int(np.searchsorted(self.breaks, first))
                last = int(self.breaks[stop]) if stop < len(self.breaks) else len(self.marks) - 1
                starts.append(self.marks[first:last])
                lengths.append(self.sizes[first:last])
                self.at = int(self.marks[last])
            size = self._single()
            if size is None:
                break
            if size >= 0:
                starts.append(np.array([self.at]))
                lengths.append(np.array([size]))
                self.at += size + FRAME
        return np.concatenate([np.zeros(0, np.int64), *starts]), np.concatenate(
            [np.zeros(0, np.int64), *lengths]
        )

    def _single(self) -> int | None:
        """Length of the record at `at`; None when the buffer ends first, -1 after damage passed."""
        if self.at + HEAD > self.end:
            self.wanted = HEAD
            return None
        head = self.buffer[self.at : self.at + HEAD].tobytes()
        size = int.from_bytes(head[:8], "little")
        sound = int.from_bytes(head[8:], "little") == int(
            mask_crc(np.array([of_bytes(head[:8])], np.uint32))[0]
        )
        if not sound or size > LARGEST:
            why = (
                "the checksum of a record's length is wrong"
                if not sound
                else f"a record of {size} bytes is implausibly large"
            )
            self.damage.append(Damage(self.base + self.at, self.base + self.at, why))
            self.at += 1
            return -1 if self._resync() else None
        if self.at + FRAME + size > self.end:
            self.wanted = FRAME + size
            return None
        return size

    def _resync(self) -> bool:
        """Go on at the next sound head; without one, keep the last bytes for the next stretch."""
        if self.sound is None:
            self.sound = self.marks[_heads_hold(self.buffer, self.marks, self.sizes)]
        ahead = int(np.searchsorted(self.sound, self.at))
        self.lost = ahead == len(self.sound)
        self.at = max(self.at, self.end - HEAD) if self.lost else int(self.sound[ahead])
        self.damage[-1] = self.damage[-1]._replace(until=self.base + self.at)
        return not self.lost


def marks(buffer: Bytes, end: int) -> Ints:
    """Every place in `buffer[:end]` that may be the head of an event under 64 KiB; shape `[n]`,
    ascending. Six zero bytes end its length, and the payload begins with the key of a wall time."""
    found = []
    for low in range(0, end - HEAD, SCAN):
        high = min(low + SCAN, end - HEAD)
        zero = buffer[low + 2 : high + 7] == 0
        pairs = zero[:-1] & zero[1:]
        fours = pairs[:-2] & pairs[2:]
        hit = fours[: high - low] & pairs[4 : 4 + high - low]
        hit &= buffer[low + HEAD : high + HEAD] == WALL_KEY
        found.append(np.flatnonzero(hit) + low)
    return np.concatenate([np.zeros(0, np.int64), *found])


def has_record(head: bytes) -> bool:
    """Whether the head of any event, its checksum right, is among these bytes."""
    data = np.frombuffer(head, np.uint8)
    at = marks(data, len(data))
    return bool(_heads_hold(data, at, _short_lengths(data, at)).any())


def _short_lengths(buffer: Bytes, at: Ints) -> Ints:
    return buffer[at].astype(np.int64) | (buffer[at + 1].astype(np.int64) << 8)


def _heads_hold(buffer: Bytes, at: Ints, sizes: Ints) -> np.ndarray:
    """Whether the checksums of heads with lengths under 64 KiB are right; shape `[n]`, bool."""
    table = terms()
    base = np.uint32(of_bytes(bytes(8))) ^ table[7, 0] ^ table[6, 0]
    expected = mask_crc(base ^ table[7][sizes & 0xFF] ^ table[6][sizes >> 8])
    stored = sum(buffer[at + 8 + i].astype(np.uint32) << np.uint32(8 * i) for i in range(4))
    return np.asarray(expected == stored)
