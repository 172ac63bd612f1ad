"""A small process that carries the script's output, and stays for as long as anyone writes to it.

It is a separate process for three reasons. What a daemon of the script writes after the launcher
has ended still arrives. When the launcher is killed (SIGKILL), the script is killed too, as it would
be if the signal had gone to it. And a signal that reaches this process as well was sent to the whole
group (by Ctrl-C, `timeout`, a batch system): the script has it already, and the launcher asks here
before it hands one on.

Started with a JSON object on stdin: `control` (a socket of the launcher's), `out` (the record's folder), `notes` (where
lines of ours come in, see status_line.py) and `streams`, each with `ours` (where the script's output is read), `target`
(where it goes), `log` (the copy's path) and `terminal`. A message is a letter and a number: S the script's process id,
H a signal ("did you receive it?": one byte comes back), E the script has ended (one byte comes back when what it printed
has been passed on and its copy is closed).
"""

import contextlib
import os
import select
import signal
import socket
import struct
import threading
import time
from typing import Any

from traindx.capture.launch.status_line import ERASE, StatusLine, write_all
from traindx.redaction import Redacted

HEAD_BYTES = 8 << 20  # of each stream are kept from its beginning,
TAIL_BYTES = 8 << 20  # and as many from its end
QUIET = 0.1  # seconds without output after the script's end, while others still hold it open,
GRACE = 1.0  # or with: then it is not waited for
TOGETHER = 0.02  # seconds between the first and the last process that a batch system sends a signal to
STALE = 5.0  # seconds after which the launcher will not ask for a signal any more
MESSAGE = struct.Struct("<cI")
FAULTS = frozenset(
    {signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGTRAP, signal.SIGSYS}
)
# Of the process itself; those that the kernel alone acts on; and those of terminals, for who reads and
# writes them.
OWN = FAULTS | {signal.SIGKILL, signal.SIGSTOP, signal.SIGCHLD, signal.SIGTTIN, signal.SIGTTOU}
HELD = frozenset(signal.valid_signals()) - OWN


class Kept:
    """A bounded copy of a stream: its first and its last bytes. A disk that takes no more ends the
    copy, not the stream."""

    def __init__(self, path: str) -> None:
        self.room, self.left_out = HEAD_BYTES, 0
        self.tail, self.lines = bytearray(), Redacted()
        self.descriptor = -1
        with contextlib.suppress(OSError):
            self.descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o644)

    def add(self, data: bytes) -> None:
        if self.descriptor < 0:
            return
        self.take(self.lines.add(data))

    def take(self, data: bytes) -> None:
        head, rest = data[: self.room], data[self.room :]
        self.room -= len(head)
        self.write(head)
        self.tail += rest
        surplus = len(self.tail) - TAIL_BYTES
        if surplus > TAIL_BYTES // 2:
            del self.tail[:surplus]
            self.left_out += surplus

    def write(self, data: bytes | bytearray) -> None:
        view = memoryview(data)
        try:
            while view and self.descriptor >= 0:
                view = view[os.write(self.descriptor, view) :]
        except OSError:
            os.close(self.descriptor)
            self.descriptor = -1

    def close(self) -> None:
        self.take(self.lines.rest())
        if self.left_out:
            self.write(b"\n[... %d bytes left out ...]\n" % self.left_out)
        self.write(self.tail)
        if self.descriptor >= 0:
            os.close(self.descriptor)
        self.descriptor, self.tail = -1, bytearray()


class Stream:
    """One stream of the script."""

    def __init__(self, ours: int, target: int, log: str, terminal: bool) -> None:
        self.ours, self.target, self.terminal = ours, target, terminal
        self.kept, self.below = Kept(log), StatusLine(target)

    def pass_on(self) -> bool:
        """Read what there is and hand it on; False at the end."""
        try:
            data = os.read(self.ours, 65536)
        except OSError:  # a pseudo terminal whose last writer has gone
            return False
        if not data:
            return False
        self.kept.add(data)
        return self.below.pass_on(data)


def resize_terminal(target: int, pseudo: int) -> bool:
    """Give the pseudo terminal the size of the real one; whether that is another than before."""
    import fcntl
    import termios

    with contextlib.suppress(OSError):
        wanted = fcntl.ioctl(target, termios.TIOCGWINSZ, b"\0" * 8)
        if wanted != fcntl.ioctl(pseudo, termios.TIOCGWINSZ, b"\0" * 8):
            fcntl.ioctl(pseudo, termios.TIOCSWINSZ, wanted)
            return True
    return False


class Script:
    """The process that the launcher started, by a handle that cannot come to mean another one."""

    def __init__(self, pid: int) -> None:
        self.handle = -1
        with contextlib.suppress(OSError):  # it has ended already
            self.handle = os.pidfd_open(pid)

    def send(self, number: int) -> bool:
        """Whether there was still someone to send a signal to."""
        try:
            signal.pidfd_send_signal(self.handle, number)
        except OSError:
            return False
        return True


class Relay:
    """Output goes through a separate thread: a reader that takes none must not keep us from answering."""

    def __init__(self, request: dict[str, Any]) -> None:
        self.out: str = request["out"]
        self.control = socket.socket(fileno=request["control"])
        self.streams = {given["ours"]: Stream(**given) for given in request["streams"]}
        self.terminals = [stream for stream in self.streams.values() if stream.terminal]
        self.notes: int = request["notes"]
        # Of the stream that goes to stderr, which comes last.
        self.below = list(self.streams.values())[-1].below
        self.script: Script | None = None
        self.received: dict[int, float] = {}
        self.woken, wake = os.pipe()
        for end in (self.woken, wake):
            os.set_blocking(end, False)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        for number in HELD:
            signal.signal(number, self.receive)
        signal.signal(
            signal.SIGTTOU, signal.SIG_IGN
        )  # the terminal is the script's: its output is not held up here
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        self.over, self.tell_over = os.pipe()
        self.pumped, self.tell_pumped = os.pipe()
        self.thread = threading.Thread(target=self.pump)

    def receive(self, number: int, _frame: object) -> None:
        self.received[number] = time.monotonic()
        if number == signal.SIGWINCH:
            changed = [resize_terminal(stream.target, stream.ours) for stream in self.terminals]
            if any(changed) and self.script is not None:  # it may have looked before
                self.script.send(number)

    def run(self) -> None:
        """Until the script has ended (or the launcher has gone) and nobody holds its output."""
        self.thread.start()
        waiting = {self.control.fileno(), self.pumped}
        while waiting:
            ready, _, _ = select.select([*waiting, self.woken], [], [])
            if self.woken in ready:
                os.read(self.woken, 4096)
            if self.pumped in ready:
                waiting.discard(self.pumped)
            if self.control.fileno() in ready and not self.answered():
                waiting.discard(self.control.fileno())
                os.write(self.tell_over, b".")

    def answered(self) -> bool:
        """Take one message of the launcher's; False after its last one."""
        try:
            message = self.control.recv(MESSAGE.size, socket.MSG_WAITALL)
        except OSError:
            message = b""
        if len(message) < MESSAGE.size:  # it was killed
            if self.script is not None and self.script.send(signal.SIGKILL):
                line = f"traindx: killed, and the script with it; what was recorded: traindx diagnose {self.out}\n"
                write_all(
                    self.below.target,
                    ERASE * self.below.drawn + line.encode("utf-8", "surrogateescape"),
                )
            return False
        letter, number = MESSAGE.unpack(message)
        if letter == b"S":
            self.script = Script(number)
        elif letter == b"H":
            self.answer(bytes([self.was_received(number)]))
        return bool(letter != b"E")

    def answer(self, byte: bytes) -> None:
        with contextlib.suppress(OSError):
            self.control.sendall(byte)

    def was_received(self, number: int) -> bool:
        """Whether a signal came here, too, since it was asked for last."""
        end = time.monotonic() + TOGETHER
        while number not in self.received and (left := end - time.monotonic()) > 0:
            select.select([self.woken], [], [], left)
            with contextlib.suppress(BlockingIOError):
                os.read(self.woken, 4096)
        return time.monotonic() - self.received.pop(number, -STALE) < STALE

    def pump(self) -> None:
        """Pass on until every writer has gone. When the script has, its copy is closed."""
        end = None
        keeping = list(self.streams.values())
        while self.streams or end is None:
            waiting = [*self.streams, *((self.over, self.notes) if end is None else ())]
            ready, _, _ = select.select(waiting, [], [], QUIET if end is not None and keeping else None)
            if self.over in ready:
                end = time.monotonic() + GRACE
                self.below.close()
            elif self.notes in ready:
                self.below.receive(os.read(self.notes, 65536))
            for number in self.streams.keys() & set(ready):
                if not self.streams[number].pass_on():
                    os.close(number)
                    del self.streams[number]
            if end is not None and keeping and (not self.streams or not ready or time.monotonic() > end):
                for stream in keeping:
                    stream.kept.close()
                keeping = []
                self.answer(b".")
        os.close(self.tell_pumped)


def main(request: dict[str, Any]) -> None:
    relay = Relay(request)
    os.chdir("/")
    relay.run()
