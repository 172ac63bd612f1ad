"""A small process between traindx and an experiment: it makes sure that nothing of the experiment stays
behind.

It is the parent of the command and adopts the processes that the command leaves behind (Linux), even
those in a separate session. It ends them all when the command has ended, when time is up, or when
traindx itself is gone for any reason: the lifeline is a pipe that breaks then.

`python -I -S -c "..." REQUEST` with a JSON request: `command`, `writable` (list of paths, or null for no
fence), `seconds` (null: no limit), `grace`, `place` (the scratch folder, removed here when traindx is
gone), `enclosure` (arguments of enclosure.enter, or null), and the descriptors `lifeline` and `answer`.
The answer is one JSON object: `status`, `signal`, `ended`, `fenced`, and `wanted_network` if it had a
separate network."""

import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from traindx.lab.conduct import enclosure, fence

# Signals that ask for the end, sent or passed on by traindx. The script gets the same one.
ENDING = (
    signal.SIGTERM,
    signal.SIGINT,
    signal.SIGHUP,
    signal.SIGQUIT,
    signal.SIGUSR1,
    signal.SIGUSR2,
    signal.SIGXCPU,
)
LEFT_BEHIND = 0.5  # seconds for processes that outlive the command


class Keeper:
    """One command and all of its descendants."""

    def __init__(self, request: dict[str, Any]) -> None:
        self.request = request
        self.lifeline: int = request["lifeline"]
        self.fenced = False
        self.status: int | None = None  # as os.waitpid gives it, once the command has ended
        self.woken, self.wake = os.pipe()
        os.set_blocking(self.wake, False)
        os.set_blocking(self.woken, False)
        signal.set_wakeup_fd(self.wake, warn_on_full_buffer=False)
        for number in (signal.SIGCHLD, *ENDING):
            signal.signal(number, self.receive)
        self.end_signal = 0  # the signal that asked for the end, 0 without one
        # They may have been blocked until now, and are received here.
        signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)
        self.child = -1
        self.counters: list[int] = []  # of the experiment's own network, where it has one

    def receive(self, number: int, _frame: object) -> None:
        if number != signal.SIGCHLD:
            self.end_signal = number

    def start(self, fork: bool = False) -> bool:
        """Start the command, or fork it from this process. True in the forked process, which then runs the
        command. Raises OSError where that fails."""
        writable = self.request["writable"]
        landlock = writable is not None and fence.version() > 0
        self.fenced = landlock or self.request["enclosure"] is not None
        ours, theirs = socket.socketpair()

        def before() -> None:
            self.enclose(theirs)
            fence.die_with_parent(signal.SIGKILL)  # a change of identity would undo it, so it comes after
            if landlock:
                fence.restrict(writable)

        fence.adopt_orphans()
        with ours, theirs:
            if fork:
                self.child = os.fork()
                if not self.child:
                    os.setsid()
                    self.let_go()
                    before()
                    return True
            else:
                process = subprocess.Popen(
                    self.request["command"], start_new_session=True, preexec_fn=before
                )
                self.child = process.pid
                process.returncode = 0  # it is waited for here, with all adopted processes
            theirs.close()
            self.counters = socket.recv_fds(ours, 1, 2)[1]
        return False

    def enclose(self, parent: socket.socket) -> None:
        """In the process of the command: enter its view of the machine, and pass the counters of its network
        to the keeper, which stays outside."""
        if self.request["enclosure"] is not None:
            counters = enclosure.enter(**self.request["enclosure"])
            socket.send_fds(parent, [b" "], counters)
            for one in counters:
                os.close(one)

    def let_go(self) -> None:
        """In a forked process: drop what belongs to the keeper."""
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGCHLD, *ENDING):
            signal.signal(number, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        for descriptor in (self.woken, self.wake, self.lifeline, self.request["answer"]):
            os.close(descriptor)

    def run(self, fork: bool = False) -> bool:
        """Start the command, keep it to its end and answer. True in a process that was forked to run it."""
        try:
            if self.start(fork):
                return True
        except (OSError, subprocess.SubprocessError) as error:
            if fork and not self.child:
                raise  # in the command's own process
            answer: dict[str, Any] = {
                "ended": "not-started",
                "why": getattr(error, "strerror", None) or str(error),
            }
        else:
            ended = self.keep()
            code = 0 if self.status is None else os.waitstatus_to_exitcode(self.status)
            if self.end_signal:  # traindx may be gone
                from traindx.lab.conduct.scratch import remove

                remove(Path(self.request["place"]))
            answer = {"ended": ended, "status": max(code, 0), "signal": max(-code, 0), "fenced": self.fenced}
            if self.counters:
                texts = [os.pread(one, 1 << 16, 0).decode() for one in self.counters]
                answer["wanted_network"] = enclosure.wanted_network(texts)
        with contextlib.suppress(BrokenPipeError):
            os.write(self.request["answer"], json.dumps(answer).encode())
        return False

    def keep(self) -> str:
        """Wait for the command to end, in whichever way: `finished`, `out-of-time`, `stopped`."""
        limit = self.request["seconds"]
        end = None if limit is None else time.monotonic() + limit
        ended = self.wait(end)
        if ended != "finished":
            self.signal(self.child, self.end_signal or signal.SIGTERM)
            self.wait(time.monotonic() + self.request["grace"], listen=False)
        self.clear()
        return ended

    def wait(self, end: float | None, *, listen: bool = True) -> str:
        """Until the command has ended, `end` has come, or traindx has gone."""
        while True:
            self.reap()
            if self.status is not None:
                return "finished"
            if listen and self.end_signal:
                return "stopped"
            left = None if end is None else end - time.monotonic()
            if left is not None and left <= 0:
                return "out-of-time"
            ready, _, _ = select.select([self.woken, *([self.lifeline] if listen else [])], [], [], left)
            if self.woken in ready:
                os.read(self.woken, 4096)
            if self.lifeline in ready:
                self.end_signal = signal.SIGTERM

    def reap(self) -> None:
        """Wait for all processes that have ended."""
        with contextlib.suppress(ChildProcessError):
            while True:
                pid, status = os.waitpid(-1, os.WNOHANG)
                if pid == 0:
                    return
                if pid == self.child:
                    self.status = status

    def clear(self) -> None:
        """End every remaining descendant, after asking once."""
        for number, patience in ((signal.SIGTERM, LEFT_BEHIND), (signal.SIGKILL, 5.0)):
            end = time.monotonic() + patience
            asked: set[int] = set()
            while time.monotonic() < end:
                self.reap()
                left = set(descendants(os.getpid()))
                if self.status is None or not descendants_known():
                    self.signal_group(number)
                if not left and self.status is not None:
                    return
                for pid in left - asked:
                    self.signal(pid, number)
                asked |= left
                time.sleep(0.01)

    def signal(self, pid: int, number: int) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)

    def signal_group(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.child, number)


def descendants_known() -> bool:
    return os.path.isdir("/proc/self")


def descendants(root: int) -> list[int]:
    """Processes that descend from `root`, from /proc; none where there is no /proc."""
    if not descendants_known():
        return []
    children: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            with (
                contextlib.suppress(OSError, ValueError, IndexError),
                open(f"/proc/{name}/stat", "rb") as stat,
            ):
                fields = stat.read().rpartition(b")")[2].split()
                if fields[0] != b"Z":
                    children.setdefault(int(fields[1]), []).append(int(name))
    found: list[int] = []
    waiting = [root]
    while waiting:
        below = children.get(waiting.pop(), [])
        found += below
        waiting += below
    return found


def main() -> None:
    Keeper(json.loads(sys.argv[1])).run()
