"""The file that the channel writes."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from tests.live.receiver import Receiver


@contextlib.contextmanager
def receiver(folder: Path) -> Iterator[Receiver]:
    kept = folder / "kept.txt"
    yield Receiver(
        address=f"keep:{kept}",
        failing=f"keep:{folder}/token4711/kept.txt",
        arrived=lambda: kept.read_text().splitlines() if kept.exists() else [],
    )
