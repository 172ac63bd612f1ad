"""What a command prints: its beginning goes into a file, its end is kept in memory."""

import os
import select
import subprocess
import time
from pathlib import Path
from typing import Any, Protocol

from traindx.redaction import Redacted

KEPT_BYTES = 8 << 20  # of the output are written to stdout.log
TAIL_BYTES = 16 << 10  # and its end is kept in memory
POLL = 0.25  # seconds between two checks of the disk and of `stop`


class OutputSink(Protocol):
    """What takes the output of a command, whose streams are those of `subprocess.Popen`: `Output`, for
    one."""

    tail: bytes
    stdin: Any
    stdout: Any
    stderr: Any

    def take(self, keeper: Any, patience: float) -> object:
        """Take what is printed within `patience` seconds."""

    def rest(self, keeper: Any) -> None:
        """Take what is printed until the keeper has ended."""


class Output:
    """What a command prints: its beginning goes into a file, its end is kept in memory."""

    stdin, stdout, stderr = subprocess.DEVNULL, subprocess.PIPE, subprocess.STDOUT

    def __init__(self, log: Path) -> None:
        self.log, self.room = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644), KEPT_BYTES
        self.tail, self.lines = b"", Redacted()

    def take(self, keeper: Any, patience: float) -> bool:
        """What there is within `patience` seconds. False when there was nothing, or no writer is left."""
        assert keeper.stdout is not None
        ready, _, _ = select.select([keeper.stdout], [], [], patience)
        data = os.read(keeper.stdout.fileno(), 65536) if ready else b""
        if data:
            self.keep(self.lines.add(data))
            self.tail = (self.tail + data)[-TAIL_BYTES:]
        elif ready:
            time.sleep(0.01)  # it has closed its output and still runs
        return bool(data)

    def keep(self, lines: bytes) -> None:
        os.write(self.log, lines[: self.room])
        self.room -= min(self.room, len(lines))

    def rest(self, keeper: Any) -> None:
        """What is printed until the keeper has ended: it must not wait for a reader meanwhile."""
        while keeper.poll() is None:
            self.take(keeper, POLL)
        while self.take(keeper, 0.0):
            continue
        assert keeper.stdout is not None
        keeper.stdout.close()
        self.keep(self.lines.rest())
        os.close(self.log)
