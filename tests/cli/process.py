"""Run the command as users do: as a process."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

COMMAND = [sys.executable, "-m", "traindx.cli.main"]
COLOR_VARIABLES = ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "TRAINDX_DEBUG", "CLICOLOR", "TTY_COMPATIBLE")
LIMIT = 120  # seconds after which a process that hangs is a failure; nothing is expected to take long


class Done(NamedTuple):
    status: int
    out: str
    err: str


def environment(**changes: str) -> dict[str, str]:
    clean = {k: v for k, v in os.environ.items() if k not in COLOR_VARIABLES}
    return {**clean, "TERM": "xterm-256color", "PYTHONWARNINGS": "error", "TRAINDX_KB": "off", **changes}


def traindx(
    *arguments: str | Path,
    cwd: Path,
    given: str | bytes | None = None,
    env: Mapping[str, str] | None = None,
    limit: float = LIMIT,
    before: Callable[[], None] | None = None,
) -> Done:
    """One call with pipes for stdout and stderr, and `given` (or nothing) on stdin. `before` runs in its process."""
    data = given.encode() if isinstance(given, str) else given
    done = subprocess.run(
        [*COMMAND, *map(str, arguments)],
        input=data if data is not None else b"",
        capture_output=True,
        cwd=cwd,
        env=environment(**(env or {})),
        timeout=limit,
        preexec_fn=before,
    )
    out, err = done.stdout.decode("utf-8"), done.stderr.decode("utf-8")
    assert "Traceback (most recent call last)" not in out + err, out + err
    assert "a bug in traindx" not in err, err
    return Done(done.returncode, out, err)


def at_terminal(
    arguments: Sequence[str | Path], *, cwd: Path, typed: str = "", env: Mapping[str, str] | None = None
) -> Done:
    """One call with a pseudo terminal for stdin, stdout and stderr; `typed` is what the user types.
    All that appears on the terminal comes back as `out`."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [*COMMAND, *map(str, arguments)],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        cwd=cwd,
        env=environment(**(env or {})),
        close_fds=True,
    )
    os.close(theirs)
    os.write(ours, typed.encode())
    seen = bytearray()
    while True:
        try:
            piece = os.read(ours, 65536)
        except OSError:  # Linux says EIO when the last process has closed its end
            break
        if not piece:
            break
        seen += piece
    os.close(ours)
    return Done(process.wait(LIMIT), seen.decode("utf-8", "replace"), "")
