"""Event files byte by byte, with checksums computed bit by bit: independent of the reader."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from functools import cache


@cache
def table() -> list[int]:
    """CRC32C of single bytes, by long division (polynomial 0x1EDC6F41, reflected)."""
    out = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
        out.append(byte)
    return out


def crc32c(data: bytes) -> int:
    register, entries = 0xFFFFFFFF, table()
    for byte in data:
        register = register >> 8 ^ entries[(register ^ byte) & 0xFF]
    return register ^ 0xFFFFFFFF


def masked(data: bytes) -> bytes:
    crc = crc32c(data)
    return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)


def record(payload: bytes) -> bytes:
    size = struct.pack("<Q", len(payload))
    return size + masked(size) + payload + masked(payload)


def varint(value: int) -> bytes:
    value &= (1 << 64) - 1
    out = b""
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def block(field: int, content: bytes) -> bytes:
    return varint(field << 3 | 2) + varint(len(content)) + content


def event(wall: float, step: int, *values: bytes) -> bytes:
    """An Event; a step of 0 is left out, as protobuf does."""
    count = b"\x10" + varint(step) if step else b""
    return b"\x09" + struct.pack("<d", wall) + count + block(5, b"".join(block(1, v) for v in values))


def version() -> bytes:
    return b"\x09" + struct.pack("<d", 1.7e9) + block(3, b"brain.Event:2")


def simple(tag: str, value: float) -> bytes:
    return block(1, tag.encode()) + b"\x15" + struct.pack("<f", value)


def tensor(tag: str, value: float) -> bytes:
    """A float32 scalar as Keras writes it."""
    content = b"\x08\x01" + block(2, b"") + block(4, struct.pack("<f", value))
    return block(1, tag.encode()) + block(9, block(1, block(1, b"scalars"))) + block(8, content)


def double(tag: str, value: float) -> bytes:
    """A float64 scalar in its own field, packed."""
    return block(1, tag.encode()) + block(8, b"\x08\x02" + block(6, struct.pack("<d", value)))


def histogram(tag: str, octets: bytes) -> bytes:
    return block(1, tag.encode()) + block(5, octets)


def file(events: Sequence[bytes]) -> bytes:
    return b"".join(record(e) for e in (version(), *events))
