"""A time limit for work that checks no clock: parsers, searches in a source, starts that are waited for."""

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from traindx.errors import ExperimentFailed

AGAIN = 15.0  # seconds: by then processes have been ended and their folders removed
SOON = 1e-3  # 0 would disable the timer


class OutOfTime(ExperimentFailed):
    """The time for something is used up."""


@contextmanager
def at_most(seconds: float, again: float = AGAIN) -> Iterator[None]:
    """Raise OutOfTime after so many seconds, wherever the work is then. An earlier limit around it stays in
    force. It is raised every `again` seconds as long as the work goes on, because Python drops an
    exception that is raised in a destructor. Signals only reach the main thread, so other threads have no
    limit."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def over(_number: int, _frame: object) -> None:
        raise OutOfTime("the time was used up")

    left, interval = signal.getitimer(signal.ITIMER_REAL)
    begun = time.monotonic()
    before = signal.signal(signal.SIGALRM, over)
    signal.setitimer(signal.ITIMER_REAL, min(left or seconds, max(seconds, SOON)), again)
    try:
        yield
    finally:
        rest = max(left - (time.monotonic() - begun), SOON) if left else 0
        signal.setitimer(signal.ITIMER_REAL, rest, interval)
        signal.signal(signal.SIGALRM, before)
