"""Protobuf messages of any length, walked in a stream: what is passed over is never held."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from traindx.readers.files.protobuf import FIXED32, FIXED64, LENGTH, VARINT, Malformed, varint
from traindx.readers.files.text_blocks import chunks
from traindx.readers.raw import Source
from traindx.vocabulary.run import Event

VARINT_BYTES = 10  # the most that a varint has
ENDLESS = 1 << 62


class Ended(Exception):
    """The bytes end within a message."""


class Field(NamedTuple):
    """`value` of a varint, else the size of what comes; `stop` is the place behind it."""

    number: int
    kind: int
    value: int
    stop: int


class Wire:
    """A window on the plain bytes of a file; `place` is how many were taken."""

    def __init__(self, source: Source, damage: list[Event]) -> None:
        self.pieces = chunks(source, damage)
        self.held, self.at, self.passed = b"", 0, 0

    @property
    def place(self) -> int:
        return self.passed + self.at

    def fill(self, count: int) -> bool:
        """Hold so many bytes that were not taken yet; False where the file ends first."""
        while len(self.held) - self.at < count:
            piece = next(self.pieces, None)
            if piece is None:
                return False
            self.passed += self.at
            self.held, self.at = self.held[self.at :] + piece, 0
        return True

    def take(self, count: int) -> bytes:
        """The next bytes. Raises Ended."""
        if not self.fill(count):
            raise Ended
        self.at += count
        return self.held[self.at - count : self.at]

    def go(self, place: int) -> None:
        """Pass over everything before a place. Raises Ended."""
        while self.passed + len(self.held) < place:
            self.passed, self.at, self.held = self.passed + len(self.held), 0, b""
            if not self.fill(1):
                raise Ended
        self.at = max(self.at, place - self.passed)

    def varint(self) -> int:
        """Raises Ended, Malformed."""
        self.fill(VARINT_BYTES)
        if self.at >= len(self.held):
            raise Ended
        value, self.at = varint(self.held, self.at, min(len(self.held), self.at + VARINT_BYTES))
        return value

    def fields(self, stop: int = ENDLESS) -> Iterator[Field]:
        """The fields of a message that ends at `stop`; what the caller leaves of one is passed over.

        Raises Ended, Malformed."""
        while self.place < stop and (stop < ENDLESS or self.fill(1)):
            key = self.varint()
            kind = key & 7
            sizes = {FIXED64: 8, FIXED32: 4}
            value = self.varint() if kind in (VARINT, LENGTH) else sizes.get(kind, -1)
            if value < 0 or not key >> 3:
                raise Malformed(f"wire type {kind} at {self.place}")
            end = self.place if kind == VARINT else self.place + value
            if end > stop:
                raise Malformed(f"field {key >> 3} runs past the end of its message")
            yield Field(key >> 3, kind, value, end)
            self.go(end)
