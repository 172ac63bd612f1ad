"""The model that a training ends with, as a file that Keras loads: what `fit` left, once it has ended."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from traindx.capture.process.ranks import rank_of_process
from traindx.capture.session.stream import Stream

FILE = "model.keras"


class Kept:
    """The model of the last `fit`, next to the record; where several models have a record each, that of the
    longest."""

    def __init__(self, stream: Stream, out: Path) -> None:
        self._stream, self._path = stream, out / FILE
        self._of: Any = None  # the session that the file is of
        self._steps = 0

    def write(self, model: Any, steps: int) -> None:
        """Write the file, after so many steps of the record; where that cannot be, the record says why."""
        if rank_of_process() or (self._stream.opened is not self._of and steps <= self._steps):
            return
        self._of, self._steps = self._stream.opened, steps
        try:
            model.save(self._path)
            self._stream.fact("model_sha256", hashlib.sha256(self._path.read_bytes()).hexdigest())
            self._stream.fact("model_tensors", len(model.weights))
        except (
            OSError,
            ValueError,
            TypeError,
            NotImplementedError,
        ) as why:  # a layer that cannot be written down
            self._path.unlink(missing_ok=True)
            self._stream.fact("model_not_kept", f"{type(why).__name__}: {why}"[:200])
