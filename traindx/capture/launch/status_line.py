"""The line below a script's output at a terminal, and lines that stay there. Part of the relay (relay.py): only the
process that writes everything the script prints can take a line away before the script's next byte.

The line is drawn only where the script has ended its own last line, so its output is never changed. A script that
draws bars or a whole screen has the terminal to itself.
"""

from __future__ import annotations

import contextlib
import os
import re
import select
import termios
import time

ERASE = b"\r\x1b[K"
CARRIED = 16  # bytes of the end of what was printed in which a sequence may have begun
DRAWN = 30.0  # seconds after the last bar that the script has drawn, in which the line stays away
# Going back in a line or moving the cursor: any sequence but colors and links, as far as it is known.
MOVES = re.compile(rb"\r(?!\r*\n|\r*\Z)|\x08|\x1b(?!\[[\d;:]*m|\[?[\d;:]*\Z|\]8;|\]8?\Z|\\\\)")


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


def columns(terminal: int) -> int:
    """The width of a terminal; 0 where it is unknown, or the terminal is gone."""
    try:
        return os.get_terminal_size(terminal).columns
    except OSError:
        return 0


class StatusLine:
    """What is shown below the script's output on `target`. Its text comes in messages: lines that begin with S replace
    the status, those that begin with L are printed and stay."""

    def __init__(self, target: int) -> None:
        self.target = target
        self.text, self.drawn = b"", False
        self.lasting: list[bytes] = []  # not printed yet
        self.end, self.received = b"", b""
        self.moved = -DRAWN

    def pass_on(self, data: bytes) -> bool:
        """Write what the script has printed. Whether that was possible."""
        seen = self.end + data
        if MOVES.search(seen):
            self.moved = time.monotonic()
        self.end = seen[-CARRIED:]
        return self.write(data)

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
        open_line = bool(self.end) and not self.end.endswith(b"\n")
        stays = b""
        if self.lasting and self.is_free():
            # Where the script has left its own last line open, ours begins below it.
            stays = b"\n" * open_line + b"".join(self.lasting)
            self.lasting, self.end, open_line = [], b"\n", False
        shown = self.text and not open_line and time.monotonic() - self.moved >= DRAWN and self.is_free()
        status = self.text[: max(columns(self.target) - 1, 0)] if shown else b""
        if data or stays or (self.drawn and not status):
            piece = ERASE * self.drawn + data + stays + status
        else:
            piece = b"\r" * self.drawn + status + b"\x1b[K" * bool(status)
        self.drawn = bool(status)
        return written(self.target, piece)

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
