"""A bound on the time of work that asks no clock: parsers, searches in a source, starts that are waited for."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from traindx.errors import ExperimentFailed


class OutOfTime(ExperimentFailed):
    """The time for something is used up."""


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Raise OutOfTime once after so many seconds, wherever the work is then; an earlier bound around it stays in
    force. Signals reach the main thread alone: in any other there is no bound."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def over(_number: int, _frame: object) -> None:
        raise OutOfTime("the time was used up")

    left, _ = signal.getitimer(signal.ITIMER_REAL)
    sooner = 0 < left < seconds
    before = signal.signal(signal.SIGALRM, over)
    signal.setitimer(signal.ITIMER_REAL, left if sooner else max(seconds, 1e-3))
    try:
        yield
    finally:
        passed = (left if sooner else seconds) - signal.getitimer(signal.ITIMER_REAL)[0]
        signal.setitimer(signal.ITIMER_REAL, max(left - passed, 1e-3) if left else 0)
        signal.signal(signal.SIGALRM, before)
