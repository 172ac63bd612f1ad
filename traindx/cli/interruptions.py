"""Being ended from outside: the first signal that asks for it ends the work in order, as Ctrl-C does."""

from __future__ import annotations

import contextlib
import signal
import sys
from collections.abc import Iterator

import click

ASKED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
AGAIN = 1.0  # seconds until a request that was lost is made again
RESUMABLE = ("fix", "investigate")  # verbs whose finished trials are counted again


class Ended(BaseException):
    """A signal asked this process to end."""

    def __init__(self, number: signal.Signals) -> None:
        super().__init__(number.name)
        self.number = number

    def report(self, verb: str) -> int:
        """Say what happened, where somebody can still read it; the exit status, as a shell gives it."""
        what = "interrupted" if self.number == signal.SIGINT else f"ended by {self.number.name}"
        more = "; run the same command again to continue" if verb in RESUMABLE else ""
        with contextlib.suppress(OSError):  # the terminal is gone: SIGHUP says so
            click.echo(f"\ntraindx: {what}{more}", err=True)
        return 128 + self.number


def find_ended(error: BaseException | None) -> Ended | None:
    """The request to end behind an error: itself, or what it came upon while that went through (a library's `finally`
    may fail then)."""
    seen = set[int]()
    while error is not None and not isinstance(error, Ended) and id(error) not in seen:
        seen.add(id(error))
        error = error.__context__
    return error if isinstance(error, Ended) else None


@contextlib.contextmanager
def orderly(again: float = AGAIN) -> Iterator[None]:
    """Signals that ask this process to end raise Ended in its main thread. What follows the first is ignored while that
    goes through: what was started is being ended, and folders are being removed, which takes seconds. Where it got lost
    (a library swallows it, Python drops an exception that comes in a destructor), an alarm raises it `again` (seconds),
    or the end of the work does. Those that are ignored stay so (nohup)."""
    asked: list[signal.Signals] = []

    def end(number: int, _frame: object) -> None:
        if asked and find_ended(sys.exc_info()[1]) is not None:
            return
        asked.append(signal.Signals(number))
        signal.signal(signal.SIGALRM, end)
        signal.setitimer(signal.ITIMER_REAL, again, again)
        raise Ended(asked[0])

    shown = sys.unraisablehook

    def show(lost: sys.UnraisableHookArgs) -> None:
        if not isinstance(lost.exc_value, Ended):  # which is raised again, and is no error
            shown(lost)

    sys.unraisablehook = show
    before = {
        one: signal.getsignal(one) for one in ASKED if signal.getsignal(one) not in (signal.SIG_IGN, None)
    }
    for one in before:
        signal.signal(one, end)
    alarm = signal.getsignal(signal.SIGALRM)
    try:
        yield
    except Exception as error:  # noqa: BLE001 - raised again
        raise find_ended(error) or error  # noqa: B904
    finally:
        sys.unraisablehook = shown
        if asked:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, alarm)
        for one, handler in before.items():
            signal.signal(one, handler)
    if asked:
        raise Ended(asked[0])
