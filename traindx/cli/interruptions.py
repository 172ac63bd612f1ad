"""Being ended from outside: the first signal that asks for it ends the work in order, as Ctrl-C does."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator

import click

ASKED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
GOES_ON = ("fix", "investigate")  # verbs whose finished trials are counted again


class Ended(BaseException):
    """A signal asked this process to end."""

    def __init__(self, number: signal.Signals) -> None:
        super().__init__(number.name)
        self.number = number

    def tell(self, verb: str) -> int:
        """Say what happened, where somebody can still read it; the exit status, as a shell gives it."""
        what = "interrupted" if self.number == signal.SIGINT else f"ended by {self.number.name}"
        more = "; the same command goes on where it was" if verb in GOES_ON else ""
        with contextlib.suppress(OSError):  # the terminal is gone: SIGHUP says so
            click.echo(f"\ntraindx: {what}{more}", err=True)
        return 128 + self.number


@contextlib.contextmanager
def orderly() -> Iterator[None]:
    """Signals that ask this process to end raise Ended in its main thread. What follows the first is ignored: what
    was started is being ended, and folders are being removed, which takes seconds. Those that are ignored stay so
    (nohup)."""

    def end(number: int, _frame: object) -> None:
        for one in before:
            signal.signal(one, lambda *_: None)  # SIG_IGN would be complained of where two came at once
        raise Ended(signal.Signals(number))

    before = {one: signal.getsignal(one) for one in ASKED if signal.getsignal(one) not in (signal.SIG_IGN, None)}
    for one in before:
        signal.signal(one, end)
    try:
        yield
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)
