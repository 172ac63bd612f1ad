"""A recorded script ends as it would without us: nothing of ours is where the script could find it.

No handler of signals, no `sys.excepthook`; the record is closed by the last exit handler (registered
by the bootstrap before any other, so that it runs after all of them), and what a signal leaves unwritten
is at most two seconds. An experiment is ours, and is ended by SIGTERM: there the record is closed first.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Callable
from types import FrameType

from traindx.capture.process.patches import without_wrappers


class StopRun(SystemExit):
    """Raised in the script after the last of `--steps`, or by `--stop-on`. A SystemExit, so that `except Exception`
    does not catch it, `with` and `finally` are run, and Python ends silently with the status that it is given."""


def hide_wrappers() -> None:
    """Tracebacks of uncaught errors show the user's frames only, whoever prints them: Python calls its audit
    hooks with such an error before it calls `sys.excepthook`."""

    def hook(event: str, given: tuple[object, ...], wanted: str = "sys.excepthook") -> None:
        if event == wanted and isinstance(given[2], BaseException):
            with contextlib.suppress(MemoryError):  # of which the error may be; then all frames are shown
                without_wrappers(given[2])
                without_stop(given[2])

    sys.addaudithook(hook)


def without_stop(error: BaseException) -> None:
    """An error in the script's `finally:` is shown as if `StopRun` had not been on its way."""
    while error.__context__ is not None:
        if isinstance(error.__context__, StopRun):
            error.__context__ = None
            return
        error = error.__context__


def close_when_asked(close: Callable[[str], None]) -> None:
    """Call `close(how)` before SIGTERM ends this process, where the script has no handler for it."""

    def terminated(number: int, _frame: FrameType | None) -> None:
        signal.signal(number, signal.SIG_DFL)
        close(f"ended by {signal.Signals(number).name}")
        os.kill(os.getpid(), number)

    main = threading.current_thread() is threading.main_thread()
    if main and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, terminated)
