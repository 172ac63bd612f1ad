"""One part of a recorded stream: an Arrow IPC stream that only ever grows by whole batches."""

from __future__ import annotations

import contextlib
import io
import os
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from traindx.vocabulary import Floats, Ints

if TYPE_CHECKING:
    import pyarrow as pa

    Batch = tuple[pa.RecordBatch, dict[str, str]]
else:
    Batch = tuple


def schema(rank: int) -> pa.Schema:
    """The columns of docs/store.md."""
    import pyarrow as pa

    names = pa.dictionary(pa.int32(), pa.utf8())
    fields = [
        ("step", pa.int64()),
        ("time", pa.float64()),
        ("signal", names),
        ("modules", names),
        ("values", pa.list_(pa.float64())),
    ]
    return pa.schema(fields, metadata={"traindx.store": "1", "rank": str(rank)})


class Part:
    """An open stream file. Raises OSError; what the file did not take is cut off from it, and waits:
    `drain` tries again, and `left` gives it to another part."""

    def __init__(self, path: Path, rank: int) -> None:
        import pyarrow as pa

        self.path = path
        self.size = 0
        self.left: list[Batch] = []  # batches that are not in the file yet
        self._descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o644)
        self._buffer = io.BytesIO()
        options = pa.ipc.IpcWriteOptions(emit_dictionary_deltas=True)
        self._writer = pa.ipc.new_stream(self._buffer, schema(rank), options=options)

    def write(self, made: Batch) -> None:
        """Append one batch, handed to the system as one piece."""
        self._writer.write_batch(made[0], custom_metadata=made[1])
        self.left.append(made)
        self.drain()

    def close(self) -> None:
        """Write the end mark and close the file."""
        try:
            self._writer.close()
            self.drain()
        finally:
            self.abandon()

    def abandon(self) -> None:
        """Close the file without an end mark."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def drain(self) -> None:
        """Hand over what the file has not taken yet, all or nothing."""
        done = 0
        try:
            with self._buffer.getbuffer() as piece:
                while done < len(piece):
                    done += os.write(self._descriptor, piece[done:])
        except OSError:
            os.lseek(self._descriptor, self.size, os.SEEK_SET)  # where the next try begins,
            with contextlib.suppress(
                OSError
            ):  # and where a reader stops if what was written cannot be cut off
                os.ftruncate(self._descriptor, self.size)
            raise
        self._buffer.seek(0)
        self._buffer.truncate()
        self.left.clear()
        self.size += done


class Words(dict[str, int]):
    """The place of each word, in the order in which they were first asked for, and the Arrow array of all.
    A sampled step looks up dozens: a dict that fills itself does that without a call in Python."""

    def __init__(self) -> None:
        super().__init__()
        self._array: Any = None

    def __missing__(self, word: str) -> int:
        place = self[word] = len(self)
        return place

    def array(self) -> Any:
        import pyarrow as pa

        if self._array is None or len(self._array) != len(self):
            words = [word.encode() for word in self]
            offsets = np.zeros(len(words) + 1, np.int32)
            np.cumsum([len(word) for word in words], out=offsets[1:])
            parts = [None, pa.py_buffer(offsets), pa.py_buffer(b"".join(words))]
            self._array = pa.Array.from_buffers(pa.utf8(), len(words), parts)
        return self._array


def column(numbers: np.ndarray[Any, np.dtype[Any]]) -> Any:
    """A numpy array as an Arrow array, without a copy. `pyarrow.array` would do, and would first import
    pandas (a second of the training's, and a library that the script may never have wanted)."""
    import pyarrow as pa

    return pa.Array.from_buffers(
        pa.from_numpy_dtype(numbers.dtype), len(numbers), [None, pa.py_buffer(numbers)]
    )


def batch(
    made: pa.Schema,
    step: Ints,
    time: Floats,
    signal: tuple[Sequence[int] | Ints, Any],
    modules: tuple[Sequence[int] | Ints, Any],
    widths: Sequence[int] | Ints,
    values: Floats,
) -> Batch:
    """A record batch with its checksum. `signal` and `modules` are (indices, dictionary)."""
    import pyarrow as pa

    offsets = np.zeros(len(widths) + 1, np.int32)
    np.cumsum(widths, out=offsets[1:])
    columns = [
        column(step),
        column(time),
        *(
            pa.DictionaryArray.from_arrays(column(np.asarray(i, np.int32)), words)
            for i, words in (signal, modules)
        ),
        pa.ListArray.from_arrays(column(offsets), column(values)),
    ]
    mark = zlib.crc32(values.tobytes(), zlib.crc32(time.tobytes(), zlib.crc32(step.tobytes())))
    return pa.RecordBatch.from_arrays(columns, schema=made), {"crc32": str(mark)}
