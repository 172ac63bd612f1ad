"""While the script runs, the launcher is a stand-in for it: what is sent to the one reaches the other,
it stops and goes on with it, and it can end as it did.

Not passed on: SIGKILL and SIGSTOP, which no process can see (after SIGKILL, relay.py ends the script).
"""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
from collections.abc import Callable

from traindx.capture.launch.relay import HELD

STOPS = (
    signal.SIGTSTP,
    signal.SIGTTIN,
    signal.SIGTTOU,
)  # sent by terminals: a shell waits for who stops by them
WATCHED = HELD | {signal.SIGCHLD}


class Held:
    """Signals are kept back from the launcher and taken one by one. In the main thread only."""

    asked = 0  # the last that was not about children

    def __enter__(self) -> Held:
        self.before = signal.pthread_sigmask(signal.SIG_BLOCK, WATCHED)
        self.reaping = signal.signal(
            signal.SIGCHLD, lambda *_: None
        )  # where it is ignored, no status is left to take
        return self

    def __exit__(self, *_: object) -> None:
        while signal.sigpending() & WATCHED:  # those that came last were the script's
            signal.sigwait(WATCHED)
        self.restore()

    def restore(self) -> None:
        """As it was before."""
        signal.signal(signal.SIGCHLD, self.reaping)
        signal.pthread_sigmask(signal.SIG_SETMASK, self.before)

    def begin(self) -> None:
        """In the script's process, before it is the script: without our handlers, which it has not when it
        is, and which must not raise here what has come meanwhile."""
        for number in HELD:
            if callable(signal.getsignal(number)):
                signal.signal(number, signal.SIG_DFL)
        self.restore()

    def wait_for(self, script: subprocess.Popen[bytes], received: Callable[[int], bool]) -> int:
        """Stand in for the script until it ends; its return code, -n for a signal n. `received(number)`: a
        signal went to the whole group, so that the script has it."""
        while True:
            number = signal.sigwait(WATCHED)
            if number == signal.SIGCHLD:
                pid, status = os.waitpid(script.pid, os.WNOHANG | os.WUNTRACED)
                if pid and os.WIFSTOPPED(status):
                    stop_by_signal(os.WSTOPSIG(status))
                elif pid:
                    script.returncode = os.waitstatus_to_exitcode(status)
                    return script.returncode
                continue
            self.asked = number
            if not received(number):
                os.kill(script.pid, number)  # not yet waited for: it is no other process


def stop_by_signal(number: int) -> None:
    """Stop as the script did, so that the shell sees it; SIGCONT lets both go on."""
    if number not in STOPS or signal.SIGCONT in signal.sigpending():
        return
    while number in signal.sigpending():
        signal.sigwait({number})
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    os.kill(os.getpid(), number)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {number})  # here it stops
    signal.pthread_sigmask(signal.SIG_SETMASK, mask)


def end_by_signal(status: int, number: int) -> int:
    """End by the signal that ended the script; else the status to exit with."""
    if number:
        sys.stdout.flush()
        sys.stderr.flush()
        resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
        if number != signal.SIGKILL:
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {number})
        os.kill(os.getpid(), number)
    return status
