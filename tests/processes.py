"""Processes that tests send signals to, and that are gone when the test is."""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import subprocess
import termios
from collections.abc import Iterator, Sequence
from typing import IO, Any

LIMIT = 120  # seconds after which a process that hangs is a failure


def default_signals() -> None:
    """In a child: signals do what they do by default. `nohup` and some CI runners start the tests with
    SIGINT or SIGHUP ignored, and a process hands that on to what it starts."""
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())


@contextlib.contextmanager
def started(
    command: Sequence[str], *, terminal: bool = False, **options: Any
) -> Iterator[subprocess.Popen[bytes]]:
    """A process with its own session, whose terminal is its stdin if asked for; what it leaves of its
    group is ended at last."""

    def before() -> None:
        default_signals()
        if terminal:
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)

    process = subprocess.Popen(command, start_new_session=True, preexec_fn=before, **options)
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait(LIMIT)
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream is not None:
                stream.close()


def line(stream: IO[bytes] | None) -> str:
    """The next line of a process's output, "" at its end."""
    assert stream is not None
    return stream.readline().decode().strip()
