"""The script's output: passed on byte by byte, and kept beside the store."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import sys
import threading
from pathlib import Path

HEAD_BYTES = 8 << 20  # of each stream are kept from its beginning,
TAIL_BYTES = 8 << 20  # and as many from its end
GRACE = 1.0  # seconds to wait for output that other processes still hold open


class Kept:
    """A bounded copy of a stream: its first and its last bytes."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.file = open(path, "wb", buffering=0)  # noqa: SIM115 - closed by `close`
        self.room = HEAD_BYTES
        self.tail = bytearray()
        self.left_out = 0

    def add(self, data: bytes) -> None:
        head, rest = data[: self.room], data[self.room :]
        try:
            if head:
                self.file.write(head)
                self.room -= len(head)
        except OSError:
            self.room = 0  # a full disk: the script's output goes on, the copy ends here
        if rest:
            self.tail += rest
            surplus = len(self.tail) - TAIL_BYTES
            if surplus > TAIL_BYTES // 2:
                del self.tail[:surplus]
                self.left_out += surplus

    def close(self) -> None:
        with contextlib.suppress(OSError):
            if self.left_out:
                self.file.write(b"\n[... %d bytes left out ...]\n" % self.left_out)
            self.file.write(self.tail)
        self.file.close()


class Channel:
    """One stream of the script: what the child writes to (`theirs`), what is read here (`ours`)."""

    def __init__(self, target: int, kept: Kept) -> None:
        self.target, self.kept = target, kept
        self.terminal = os.isatty(target)
        self.ours, self.theirs = opened(target) if self.terminal else os.pipe()
        os.set_inheritable(self.theirs, True)

    def pass_on(self) -> bool:
        """Read what there is and hand it on; False at the end."""
        try:
            data = os.read(self.ours, 65536)
        except OSError:  # a pseudo terminal whose last writer has gone
            return False
        if not data:
            return False
        self.kept.add(data)
        return written(self.target, data)


def written(target: int, data: bytes) -> bool:
    """Whether all of `data` could be written; not when the reader of our own output has gone."""
    view = memoryview(data)
    while view:
        try:
            view = view[os.write(target, view) :]
        except BlockingIOError:
            select.select([], [target], [])
        except OSError:
            return False
    return True


def opened(target: int) -> tuple[int, int]:
    """A pseudo terminal of the size of `target`, which changes no byte."""
    import pty
    import termios

    ours, theirs = pty.openpty()
    mode = termios.tcgetattr(theirs)
    mode[1] &= ~termios.OPOST  # the real terminal makes its own line ends
    termios.tcsetattr(theirs, termios.TCSANOW, mode)
    resized(target, theirs)
    return ours, theirs


def resized(target: int, pseudo: int) -> None:
    """Give the pseudo terminal the size of the real one."""
    import fcntl
    import termios

    with contextlib.suppress(OSError):
        fcntl.ioctl(pseudo, termios.TIOCSWINSZ, fcntl.ioctl(target, termios.TIOCGWINSZ, b"\0" * 8))


def same_file(one: int, other: int) -> bool:
    first, second = os.fstat(one), os.fstat(other)
    return (first.st_dev, first.st_ino, first.st_rdev) == (second.st_dev, second.st_ino, second.st_rdev)


class Tee:
    """Both streams of the script. Where they go to one place they share a channel, so that their
    order stays; `child_stdout` and `child_stderr` are for the child."""

    def __init__(self, folder: Path, stdout: int, stderr: int) -> None:
        sys.stdout.flush()
        self.channels = [Channel(stdout, Kept(folder / "stdout.log"))]
        if not same_file(stdout, stderr):
            self.channels.append(Channel(stderr, Kept(folder / "stderr.log")))
        self.child_stdout, self.child_stderr = self.channels[0].theirs, self.channels[-1].theirs
        self.thread = threading.Thread(target=self.pump, name="traindx-output", daemon=True)
        self.stop, self.stopped = os.pipe()

    def __enter__(self) -> Tee:
        return self

    def start(self) -> None:
        """Once the child has its ends."""
        for channel in self.channels:
            os.close(channel.theirs)
            if channel.terminal:
                signal.signal(signal.SIGWINCH, self.on_resize)
        self.thread.start()

    def on_resize(self, _number: int, _frame: object) -> None:
        for channel in self.channels:
            if channel.terminal:
                resized(channel.target, channel.ours)

    def pump(self) -> None:
        """Pass on until every writer has gone, or until `finish` says that it is enough."""
        open_ones = {channel.ours: channel for channel in self.channels}
        while open_ones:
            ready, _, _ = select.select([*open_ones, self.stop], [], [])
            for number in ready:
                if number != self.stop and not open_ones[number].pass_on():
                    os.close(number)
                    del open_ones[number]
            if ready == [self.stop]:
                return

    def finish(self) -> None:
        """After the child's end: take what is left. A process that it has left behind and that
        still holds its output is not waited for."""
        self.thread.join(GRACE)
        if self.thread.is_alive():
            os.write(self.stopped, b".")
            self.thread.join(GRACE)

    def __exit__(self, *_: object) -> None:
        for channel in self.channels:
            channel.kept.close()
        os.close(self.stopped)
        os.close(self.stop)
