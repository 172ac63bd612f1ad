"""The model that a training ends with, as a file that Keras loads: what `fit` left, once it has ended."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from traindx.capture.process.ranks import rank_of_process
from traindx.capture.session.stream import Stream

FILE = "model.keras"


class Kept:
    """The model of the last `fit`, beside the record."""

    def __init__(self, stream: Stream, out: Path) -> None:
        self._stream, self._path = stream, out / FILE

    def write(self, model: Any) -> None:
        """Write the file; where that cannot be, the record says why."""
        if rank_of_process():
            return
        try:
            model.save(self._path)
            self._stream.fact("model_sha256", hashlib.sha256(self._path.read_bytes()).hexdigest())
            self._stream.fact("model_tensors", len(model.weights))
        except (OSError, ValueError, TypeError, NotImplementedError) as why:  # a layer that cannot be written down
            self._path.unlink(missing_ok=True)
            self._stream.fact("model_not_kept", f"{type(why).__name__}: {why}"[:200])
