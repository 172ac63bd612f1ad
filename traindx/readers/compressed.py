"""Bytes of files that nobody vouches for: how many of them are believed, and what is whole of broken ones.

A file of a few kilobytes can expand to gigabytes: compressed zeros, or a sparse file, whose holes take
no room on the disk. What comes out of a file is bounded by what is stored of it.
"""

from __future__ import annotations

import io
import os
import stat
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

PLENTY = 1 << 23  # bytes that any file may give
RATIO = 50  # times what is stored that a file may give; logs are compressed 5 to 40 times
LINES = (
    1 << 20
)  # that any file may give; of a larger one, as many as bytes are stored: each holds a number that is new
MOST_PIPED = 1 << 30  # bytes of a pipe, which are held in memory
PIECE = 1 << 16  # compressed bytes taken at a time
MAGIC = b"\x1f\x8b"


class Cut(EOFError):
    """The bytes end before their writer meant them to; all that came before has been handed out."""


def open_plain(path: Path) -> BinaryIO:
    """The plain bytes of a file. Errors: OSError for what cannot be opened or is no regular file (a
    pipe would wait for ever for somebody to write into it)."""
    found = os.stat(path)
    if not stat.S_ISREG(found.st_mode):
        raise OSError(0, "it is not a regular file")
    stored = found.st_blocks * 512 or found.st_size  # some file systems do not count blocks
    stream = open(path, "rb")  # noqa: SIM115 (handed out open)
    if found.st_size > allowed_size(stored):
        return Bounded(stream, allowed_size(stored))  # type: ignore[return-value]
    return decompress(stream, min(stored, found.st_size))


def decompress(stream: io.BufferedReader | io.BytesIO, stored: int) -> BinaryIO:
    """A stream at its start, decompressed where it is gzip."""
    magic = stream.read(len(MAGIC))
    stream.seek(0)
    return Inflated(stream, allowed_size(stored)) if magic == MAGIC else stream  # type: ignore[return-value]


def allowed_size(stored: int) -> int:
    """How many bytes may come out of so many stored ones."""
    return max(PLENTY, RATIO * stored)


class Bounded(io.BufferedIOBase):
    """The first `most` bytes of a stream; `Cut` is raised where it goes on behind them. A read gives
    what is whole and leaves the error to the next one."""

    def __init__(self, stream: BinaryIO, most: int) -> None:
        self.stream, self.most, self.given = stream, most, 0
        self.most_lines, self.lines = max(LINES, most // RATIO), 0

    def piece(self, size: int) -> bytes:
        """At most `size` of the next bytes; none at the end."""
        return self.stream.read(size)

    def read1(self, size: int | None = -1, /) -> bytes:
        left = self.most - self.given
        found = self.piece(min(PIECE if size is None or size < 0 else size, left + 1))
        if len(found) > left:
            found = found[:left]
            if not found:
                raise Cut(
                    f"it expands to more than {self.most >> 20} MiB, far more than its size on disk allows"
                )
        self.given += len(found)
        if self.lines > self.most_lines:
            raise Cut(
                f"it expands to more than {self.most_lines} lines, far more than its size on disk allows"
            )
        self.lines += found.count(b"\n")
        return found

    def read(self, size: int | None = -1, /) -> bytes:
        wanted = -1 if size is None else size
        pieces: list[bytes] = []
        have = 0
        while wanted < 0 or have < wanted:
            try:
                found = self.read1(wanted - have if wanted >= 0 else 1 << 20)
            except Cut:
                if not pieces:
                    raise
                break
            if not found:
                break
            pieces.append(found)
            have += len(found)
        return b"".join(pieces)

    def readinto1(self, buffer: WriteableBuffer, /) -> int:
        view = memoryview(buffer).cast("B")
        found = self.read1(len(view))
        view[: len(found)] = found
        return len(found)

    readinto = readinto1

    def readable(self) -> bool:
        return True

    def tell(self) -> int:
        return self.given

    def close(self) -> None:
        self.stream.close()
        super().close()


class Inflated(Bounded):
    """A gzip stream of one or several members. Of a damaged one every byte before the
    damage is given, however small the file is; Python's own reader loses the last block of it."""

    def __init__(self, stream: BinaryIO, most: int) -> None:
        super().__init__(stream, most)
        self.engine = zlib.decompressobj(31)
        self.waiting = b""  # compressed bytes not yet taken
        self.begun = False  # whether a member has been begun and not ended
        self.broken = ""

    def piece(self, size: int) -> bytes:
        while not self.broken:
            if not self.waiting:
                self.waiting = self.stream.read(PIECE)
            if not self.waiting and not self.begun:
                return b""
            if not self.waiting:
                found, self.broken = self.engine.flush(), "it ends before its last block"
            elif not self.begun and self.given and self.waiting[:2] != MAGIC[: len(self.waiting)]:
                return b""  # zeros or other padding behind the last member
            else:
                found = self.inflated(size)
            if found:
                return found
        raise Cut(f"the compressed file is damaged or cut: {self.broken}")

    def inflated(self, size: int) -> bytes:
        """The next bytes of the member, at most `size`."""
        self.begun = True
        before = self.engine.copy()
        try:
            found = self.engine.decompress(self.waiting, size)
        except zlib.error:
            self.engine = before
            return self.inflate_byte_by_byte(size)
        self.waiting = self.engine.unconsumed_tail
        if self.engine.eof:
            self.waiting, self.engine, self.begun = self.engine.unused_data, zlib.decompressobj(31), False
        return found

    def inflate_byte_by_byte(self, size: int) -> bytes:
        """What comes out of the waiting bytes up to the one that is wrong."""
        found = b""
        for at in range(len(self.waiting)):
            try:
                found += self.engine.decompress(self.waiting[at : at + 1], size - len(found))
            except zlib.error as error:
                self.broken = str(error)
                break
            if len(found) >= size:
                self.waiting = self.engine.unconsumed_tail + self.waiting[at + 1 :]
                break
        return found
