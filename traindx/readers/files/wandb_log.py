"""The log file that W&B keeps of a run: LevelDB's log format with another header.

    file   = ":W&B" magic (2) version (1), then blocks of 32 KiB
    block  = records; what is left at its end, under 7 bytes, is zero
    record = CRC32 of type and data (4) | length (2) | type (1) | data
    type   = 1 whole, 2 first part, 3 middle part, 4 last part

https://github.com/google/leveldb/blob/main/doc/log_format.md (there with CRC32C, masked).
"""

import zlib
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

BLOCK = 32768
HEAD = 7
MAGIC = b":W&B"
WHOLE, FIRST, MIDDLE, LAST = 1, 2, 3, 4
MOST_TRIES = 4096  # places looked at for the next sound record of a block
LARGEST = 1 << 26  # bytes of one joined record


class Lost(NamedTuple):
    """Bytes from `at` on were passed over, because of `why`."""

    at: int
    why: str


class LogReader:
    """Iterates over the whole records of a stream as (place in the file, bytes). Afterwards `lost`
    names damaged places and `tail` the place where an unfinished record begins, or None."""

    def __init__(self, stream: BinaryIO) -> None:
        self.stream = stream
        self.lost: list[Lost] = []
        self.tail: int | None = None
        self.parts: list[bytes] = []
        self.begun = 0

    def __iter__(self) -> Iterator[tuple[int, bytes]]:
        base = 0
        while True:
            block = self._block()
            yield from self._records(block, base, HEAD if base == 0 else 0)
            base += len(block)
            if len(block) < BLOCK:
                self._block()  # a broken stream says so when it is asked for more
                break
        if self.parts and self.tail is None:
            self.tail = self.begun

    def _block(self) -> bytes:
        try:
            return self.stream.read(BLOCK)
        except EOFError as error:  # a compressed file that was cut
            self.lost.append(Lost(-1, str(error)))
            return b""

    def _records(self, block: bytes, base: int, at: int) -> Iterator[tuple[int, bytes]]:
        while at + HEAD <= len(block):
            stored = int.from_bytes(block[at : at + 4], "little")
            size = int.from_bytes(block[at + 4 : at + 6], "little")
            kind = block[at + 6]
            stop = at + HEAD + size
            if not (stored or size or kind):
                return  # zeros: the block was not filled
            if stop <= len(block) and _sound(block, at, stop):
                whole = self._join(base + at, kind, block[at + HEAD : stop])
                if whole is not None:
                    yield whole
            elif stop > len(block) and len(block) < BLOCK and kind <= LAST and _next(block, at) is None:
                self.tail = self.begun if self.parts else base + at
                return
            else:
                self._drop(base + at, "the checksum of a record is wrong")
                found = _next(block, at)
                if found is None:
                    return
                stop = found
            at = stop

    def _drop(self, at: int, why: str) -> None:
        self.lost.append(Lost(at, why))
        self.parts = []

    def _join(self, at: int, kind: int, data: bytes) -> tuple[int, bytes] | None:
        """The record that ends with this part, if one does."""
        if kind in (WHOLE, FIRST):
            if self.parts:
                self._drop(self.begun, "a record has no end")
            self.begun = at
            if kind == WHOLE:
                return at, data
            self.parts = [data]
        elif not self.parts:
            if not self.lost:  # else the place where its beginning was lost is already reported
                self._drop(at, "a record has no beginning")
        elif kind == LAST:
            joined = b"".join([*self.parts, data])
            self.parts = []
            return self.begun, joined
        else:
            self.parts.append(data)
            if sum(map(len, self.parts)) > LARGEST:
                self._drop(self.begun, "a record is implausibly large")
        return None


def _next(block: bytes, at: int) -> int | None:
    """Where, behind a broken record, the next sound one begins in this block. Its length may be
    what is broken, so every place is tried, up to a bound."""
    tries = 0
    for place in range(at + 1, len(block) - HEAD + 1):
        if WHOLE <= block[place + 6] <= LAST:
            stop = place + HEAD + int.from_bytes(block[place + 4 : place + 6], "little")
            if stop <= len(block):
                tries += 1
                if _sound(block, place, stop):
                    return place
                if tries == MOST_TRIES:
                    return None
    return None


def _sound(block: bytes, at: int, stop: int) -> bool:
    stored = int.from_bytes(block[at : at + 4], "little")
    return stop <= len(block) and zlib.crc32(block[at + 6 : stop]) == stored
