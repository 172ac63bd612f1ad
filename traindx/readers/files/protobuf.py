"""The protobuf wire format, read by hand: enough to walk messages whose schema is known.

https://protobuf.dev/programming-guides/encoding/
"""

from collections.abc import Iterator

VARINT, FIXED64, LENGTH, FIXED32 = 0, 1, 2, 5


class Malformed(ValueError):
    """The bytes are not a protobuf message."""


def varint(buffer: bytes, at: int, end: int) -> tuple[int, int]:
    """The unsigned varint at `at`, and the offset after it."""
    value = shift = 0
    while at < end and shift < 70:
        byte = buffer[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & 0xFFFFFFFFFFFFFFFF, at
        shift += 7
    raise Malformed(f"varint cut short at {at}")


def as_signed(value: int) -> int:
    """A 64-bit two's complement number read as unsigned."""
    return value - (1 << 64) if value >> 63 else value


def fields(buffer: bytes, at: int = 0, end: int | None = None) -> Iterator[tuple[int, int, int, int]]:
    """Walk one message; yields (field number, wire type, start, end) of each field's content."""
    end = len(buffer) if end is None else end
    while at < end:
        key, at = varint(buffer, at, end)
        kind = key & 7
        if kind == LENGTH:
            size, at = varint(buffer, at, end)
            stop = at + size
        elif kind == FIXED64:
            stop = at + 8
        elif kind == FIXED32:
            stop = at + 4
        elif kind == VARINT:
            stop = varint(buffer, at, end)[1]
        else:
            raise Malformed(f"wire type {kind} at {at}")
        if stop > end:
            raise Malformed(f"field {key >> 3} runs past the end of its message")
        yield key >> 3, kind, at, stop
        at = stop
