"""Numbers out of pyarrow's memory without its to_numpy, which imports pandas where it is installed
(0.4 s and 50 MB)."""

from typing import Any

import numpy as np

from traindx.vocabulary import Floats, Ints


def numbers_of(column: Any) -> tuple[Floats, Ints | None]:
    """Values of a chunked float64 column that are not null, and their rows (None: every row)."""
    parts = [_chunk(chunk) for chunk in column.chunks]
    values = parts[0][0] if len(parts) == 1 else np.concatenate([part for part, _ in parts] or [np.empty(0)])
    if not column.null_count:
        return values, None
    there = np.flatnonzero(np.concatenate([known for _, known in parts]))
    return values[there], there


def _chunk(chunk: Any) -> tuple[Floats, Any]:
    """The values of a chunk and which of them are not null."""
    bitmap, data = chunk.buffers()
    count, first = len(chunk), chunk.offset
    values = np.frombuffer(data, dtype=np.float64, count=count, offset=8 * first) if count else np.empty(0)
    if bitmap is None or not chunk.null_count:
        return values, np.ones(count, dtype=bool)
    bits = np.unpackbits(np.frombuffer(bitmap, dtype=np.uint8), bitorder="little")
    return values, bits[first : first + count].astype(bool)
