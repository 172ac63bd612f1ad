"""A program that keeps its stdin."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.live.receiver import Receiver

PROGRAM = "import sys; open(sys.argv[1], 'a').write(sys.stdin.read())"


@contextlib.contextmanager
def receiver(folder: Path) -> Iterator[Receiver]:
    kept = folder / "it's $HOME; kept"
    script = folder / "keep.py"
    script.write_text(PROGRAM)
    yield Receiver(
        address=f'{sys.executable} {script} "{kept}"',
        failing=f"{sys.executable} -c \"raise SystemExit('no password=hunter2secret here')\"",
        arrived=lambda: kept.read_text().splitlines() if kept.exists() else [],
    )
