"""CRC32C (Castagnoli) of many records at once, in numpy.

A CRC is affine over GF(2): with a zero register, each byte adds (xor) a term that depends only on
its value and its distance from the end. So the CRC of a record is an xor of table entries, and
records of any lengths can share one gather. Lengths beyond one block of 256 bytes are folded by a
second table that moves a register over whole blocks of zeros.

Polynomial and masking: https://www.tensorflow.org/tutorials/load_data/tfrecord and RFC 3720, B.4.
"""

from functools import cache, lru_cache

import numpy as np
from numpy.typing import NDArray

from traindx.vocabulary import Ints

Words = NDArray[np.uint32]
Bytes = NDArray[np.uint8]

BLOCK = 256  # bytes covered by the first table
PIECE = 65536  # bytes covered by both tables
BATCH = 1 << 16  # bytes gathered at a time: index arrays stay in cache
SHORT = 1024  # bytes of one string, up to which a loop is faster than arrays
ONES = 0xFFFFFFFF
MASK_DELTA = 0xA282EAD8


@cache
def terms() -> Words:
    """`[256 distances from the end, 256 byte values]`: what a byte adds to the register."""
    first: Words = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        first = (first >> np.uint32(1)) ^ (first & np.uint32(1)) * np.uint32(0x82F63B78)
    table = np.empty((BLOCK, 256), np.uint32)
    table[0] = first
    for distance in range(1, BLOCK):
        table[distance] = (table[distance - 1] >> 8) ^ first[table[distance - 1] & 0xFF]
    return table


@cache
def _jumps() -> Words:
    """`[257 blocks, 4 register bytes, 256 byte values]`: the register after that many zero blocks."""
    table = np.empty((PIECE // BLOCK + 1, 4, 256), np.uint32)
    table[0] = np.arange(256, dtype=np.uint32) << np.array([[0], [8], [16], [24]], np.uint32)
    table[1] = terms()[BLOCK - 1 - np.arange(4)]
    for count in range(2, len(table)):
        table[count] = _move(table[count - 1], 1, table)
    return table


def _move(register: Words, blocks: Ints | int, table: Words | None = None) -> Words:
    """The registers after `blocks` blocks of zeros."""
    table = _jumps() if table is None else table
    moved = table[blocks, 0, register & 0xFF] ^ table[blocks, 1, (register >> 8) & 0xFF]
    return np.asarray(moved ^ table[blocks, 2, (register >> 16) & 0xFF] ^ table[blocks, 3, register >> 24])


@lru_cache(8192)
def term(distance: int) -> Words:
    """`[256]`: what a byte adds to the register from any distance under 65536."""
    return _move(terms()[distance % BLOCK], distance // BLOCK)


@cache
def _starts() -> Words:
    """The all-ones start register after 0..255 zero bytes."""
    step = terms()[0]
    out = np.empty(BLOCK, np.uint32)
    register = np.uint32(ONES)
    for count in range(BLOCK):
        out[count] = register
        register = (register >> np.uint32(8)) ^ step[register & np.uint32(0xFF)]
    return out


def _registers(data: Bytes, starts: Ints, lengths: Ints) -> Words:
    """Registers of records of 1..65536 bytes each, started at zero. They are cut into blocks from their
    ends, and each block is a row whose short front is filled with zeros, which add nothing."""
    counts = (lengths + BLOCK - 1) // BLOCK
    firsts = np.cumsum(counts) - counts
    ahead = (
        np.repeat(counts + firsts, counts) - np.arange(counts.sum()) - 1
    )  # whole blocks behind each block
    stops = np.repeat(starts + lengths, counts) - ahead * BLOCK
    sizes = np.minimum(stops - np.repeat(starts, counts), BLOCK)
    width = int(sizes.max())
    rows = _rows(data, stops, width)
    rows[np.arange(width) < (width - sizes)[:, None]] = 0
    places = rows + (np.arange(width)[::-1] << 8)
    blocks = np.bitwise_xor.reduce(terms().ravel()[places], axis=1)
    return np.bitwise_xor.reduceat(_move(blocks, ahead), firsts)


def _rows(data: Bytes, stops: Ints, width: int) -> Bytes:
    """The `width` bytes before each stop; shape `[n, width]`, zeros where the data begin later."""
    if stops.min(initial=width) < width:
        data, stops = np.concatenate([np.zeros(width, np.uint8), data]), stops + width
    view = np.ndarray((len(data) - width + 1,), f"V{width}", data, 0, (1,))
    return view[stops - width].view(np.uint8).reshape(-1, width)


def crc32c(data: Bytes, starts: Ints, lengths: Ints) -> Words:
    """CRC32C of the records `data[starts[i] : starts[i] + lengths[i]]`; shape `[n]`, any lengths."""
    out = np.zeros(len(starts), np.uint32)
    small = np.flatnonzero((lengths > 0) & (lengths <= PIECE))
    batch = np.cumsum(lengths[small]) // BATCH
    for part in np.split(small, np.flatnonzero(np.diff(batch)) + 1) if len(small) else ():
        size = lengths[part]
        begun = _move(_starts()[size % BLOCK], size // BLOCK)
        out[part] = _registers(data, starts[part], size) ^ begun ^ np.uint32(ONES)
    for i in np.flatnonzero(lengths > PIECE):
        out[i] = _long(data, int(starts[i]), int(lengths[i]))
    return out


def _long(data: Bytes, start: int, length: int) -> int:
    """CRC32C of one record of more than 65536 bytes."""
    head = length % PIECE or PIECE
    register = _move(_starts()[head % BLOCK], head // BLOCK)
    cuts = [(start, head), *((at, PIECE) for at in range(start + head, start + length, PIECE))]
    for at, size in cuts:
        if at != start:
            register = _move(register, PIECE // BLOCK)
        register = register ^ _registers(data, np.array([at]), np.array([size]))[0]
    return int(register) ^ ONES


def mask_crc(crc: Words) -> Words:
    """The form in which a TFRecord stores a CRC."""
    return np.asarray(((crc >> 15) | (crc << 17)) + np.uint32(MASK_DELTA))


def unmask_crc(stored: Words) -> Words:
    """The CRC behind its stored form."""
    turned = stored - np.uint32(MASK_DELTA)
    return np.asarray((turned >> 17) | (turned << 15))


@cache
def _table() -> list[int]:
    """What a byte adds to the register at the end of a string."""
    return [int(value) for value in terms()[0]]


def of_bytes(text: bytes) -> int:
    """CRC32C of one byte string."""
    if len(text) <= SHORT:
        register, table = ONES, _table()
        for byte in text:
            register = (register >> 8) ^ table[(register ^ byte) & 0xFF]
        return register ^ ONES
    return int(crc32c(np.frombuffer(text, np.uint8), np.zeros(1, np.int64), np.array([len(text)]))[0])
