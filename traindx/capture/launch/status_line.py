"""The line below a script's output at a terminal, and lines that stay there. Part of the relay (relay.py): only the
process that writes everything the script prints can take a line away before the script's next byte.

The line is drawn only where the script has ended its own last line, so its output is never changed. A script that
draws bars or a whole screen has the terminal to itself.
"""

import contextlib
import os
import re
import select
import termios
import time

ERASE = b"\r\x1b[K"
CARRIED = 16  # bytes of the end of what was printed in which a sequence may have begun
LONGEST = 8192  # bytes that are remembered of what was printed
DRAWN = 30.0  # seconds after the last bar that the script has drawn, in which the line stays away
# Going back in a line or moving the cursor: any sequence but colors and links, as far as it is known.
MOVES = re.compile(rb"\r(?!\r*\n|\r*\Z)|\x08|\x1b(?!\[[\d;:]*m|\[?[\d;:]*\Z|\]8;|\]8?\Z|\\\\)")

UP = b"\x1b[A"  # as tqdm goes back from the bar of an inner loop
BLOCK = re.compile(
    rb"(?:\r|\x1b\[2K|\x1b\[1A)*\x1b\[1A(?:\r|\x1b\[2K)*"
)  # how rich goes back to draw a block again


def write_all(target: int, data: bytes) -> bool:
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


def columns(terminal: int) -> int:
    """The width of a terminal; 0 where it is unknown, or the terminal is gone."""
    try:
        return os.get_terminal_size(terminal).columns
    except OSError:
        return 0


def height(printed: bytes) -> int:
    """How many lines above the cursor a block begins that was drawn last; 0 where none was."""
    *_, last = [None, *BLOCK.finditer(printed)]
    lines = last[0].count(b"\x1b[1A") if last else 0
    return lines if last and printed.count(b"\n", last.end()) == lines else 0


class StatusLine:
    """What is shown below the script's output on `target`. Its text comes in messages: lines that begin with S replace
    the status, those that begin with L are printed and stay."""

    def __init__(self, target: int) -> None:
        self.target = target
        self.text, self.drawn = b"", False
        self.lasting: list[bytes] = []  # not printed yet
        self.recent, self.received = b"", b""  # the last that the script has printed, and messages
        self.moved = -DRAWN

    def pass_on(self, data: bytes) -> bool:
        """Write what the script has printed. Whether that was possible."""
        if MOVES.search(self.recent[-CARRIED:] + data):
            self.moved = time.monotonic()
        self.recent = (self.recent + data)[-LONGEST:]
        return self.write(data)

    @property
    def line(self) -> bytes:
        """The script's last line so far."""
        return self.recent.rpartition(b"\n")[2]

    def receive(self, data: bytes) -> None:
        """Take messages; an unfinished one waits for its rest."""
        *messages, self.received = (self.received + data).split(b"\n")
        for message in messages:
            if message.startswith(b"S"):
                self.text = message[1:]
            else:
                self.lasting.append(message[1:] + b"\n")
        self.write(b"")

    def write(self, data: bytes) -> bool:
        """`data`, then what is waiting, then the status: at once, so that nothing flickers."""
        stays = b""
        if self.lasting and self.is_free():
            stays, self.lasting = self.placed(self.lasting), []
        shown = self.text and not self.line and time.monotonic() - self.moved >= DRAWN and self.is_free()
        status = self.text[: max(columns(self.target) - 1, 0)] if shown else b""
        if data or stays or (self.drawn and not status):
            piece = ERASE * self.drawn + data + stays + status
        else:
            piece = b"\r" * self.drawn + status + b"\x1b[K" * bool(status)
        self.drawn = bool(status)
        return write_all(self.target, piece)

    def placed(self, lines: list[bytes]) -> bytes:
        """Lines that stay, where the script has printed so much: below its own last line, but above bars, which are drawn
        again in the same place."""
        said, line, count = b"".join(lines), self.line, len(lines)
        before = line.rstrip(b"\r")  # the rest may begin a line end
        bar = line[before.rfind(b"\r") + 1 :]
        up = height(self.recent)
        if columns(self.target) and up:  # the last line of a block: all of it moves down
            return b"\n" * count + b"\x1b[%dA\x1b[%dL" % (count + up, count) + said + b"\x1b[%dB" % up
        if columns(self.target) and UP in line:  # the topmost of several bars
            return b"\r\x1b[%dL" % count + said
        if columns(self.target) and bar != line:
            return ERASE + said + bar
        self.recent = b""
        return b"\n" * bool(line) + said

    def is_free(self) -> bool:
        """Whether nobody else uses the terminal: another job in the foreground, a prompt, an editor, a password."""
        try:
            modes = termios.tcgetattr(self.target)[3]
        except termios.error:  # no terminal
            return True
        with contextlib.suppress(OSError):  # not the terminal that controls us: there are no jobs
            if os.tcgetpgrp(self.target) != os.getpgrp():
                return False
        return bool(modes & termios.ICANON and modes & termios.ECHO)

    def close(self) -> None:
        """Leave only what the script printed and what stays."""
        self.text = b""
        self.write(b"")
