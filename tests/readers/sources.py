"""Sources for the readers' tests: files of tests/logs, bytes in memory, and what the tools said."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from traindx.readers.raw import HEAD_BYTES, RawColumn, Source

LOGS = Path(__file__).parents[1] / "logs"


def source(path: Path) -> Source:
    """A file as the package opens it."""
    opened = Source(str(path), path)
    with opened.open() as stream:
        return Source(str(path), path, head=stream.read(HEAD_BYTES))


def memory(data: bytes | str, name: str = "memory") -> Source:
    """Bytes that came through a pipe."""
    raw = data.encode() if isinstance(data, str) else data
    return Source(name, data=raw, head=raw[:HEAD_BYTES])


def oracle(name: str) -> Any:
    """What a tool reported while it wrote the logs (see tests/logs/make)."""
    return json.loads((LOGS / "oracles" / f"{name}.json").read_text())


def assert_values(column: RawColumn, expected: object, **tolerance: float) -> None:
    """The values of a column are those expected; NaN equals NaN; exact unless stated otherwise."""
    np.testing.assert_allclose(
        column.values, np.asarray(expected, dtype=float), **{"rtol": 0.0, **tolerance}
    )
