"""The script's output: a separate process (relay.py) passes it on byte by byte, and keeps a copy next to the
store."""

import contextlib
import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

from traindx.capture.launch.relay import MESSAGE, resize_terminal

HOME = Path(__file__).parents[3]  # the folder that holds the package
# Nothing in these words names us or the script: who kills by name (pkill) means the launcher, or the script.
STARTED = (
    "import json, sys; asked = json.load(sys.stdin); sys.path.insert(0, asked['home']); "
    "__import__(asked['module'], fromlist=['main']).main(asked)"
)


def open_terminal(target: int) -> tuple[int, int]:
    """A pseudo terminal of the size of `target`, which changes no byte."""
    import pty
    import termios

    ours, theirs = pty.openpty()
    mode = termios.tcgetattr(theirs)
    mode[1] &= ~termios.OPOST  # the real terminal makes its own line ends
    termios.tcsetattr(theirs, termios.TCSANOW, mode)
    resize_terminal(target, ours)
    return ours, theirs


def same_file(one: int, other: int) -> bool:
    first, second = os.fstat(one), os.fstat(other)
    return (first.st_dev, first.st_ino, first.st_rdev) == (second.st_dev, second.st_ino, second.st_rdev)


class Relayed:
    """Both streams of a script, in the hands of the relay. Where they go to one place they share a
    channel, so that their order stays; `stdout` and `stderr` are for the script. Raises OSError."""

    def __init__(self, folder: Path, stdout: int, stderr: int) -> None:
        sys.stdout.flush()
        targets = (
            {"stdout.log": stdout}
            if same_file(stdout, stderr)
            else {"stdout.log": stdout, "stderr.log": stderr}
        )
        streams: list[dict[str, Any]] = []
        self.theirs: list[int] = []
        for name, target in targets.items():
            terminal = os.isatty(target)
            ours, theirs = open_terminal(target) if terminal else os.pipe()
            self.theirs.append(theirs)
            log = str(folder.absolute() / name)
            streams.append({"ours": ours, "target": os.dup(target), "log": log, "terminal": terminal})
        self.stdout, self.stderr = self.theirs[0], self.theirs[-1]
        self.control, other = socket.socketpair()
        notes, self.notes = os.pipe()  # for lines of ours at the terminal
        passed = [notes, *(stream[end] for stream in streams for end in ("ours", "target"))]
        request: dict[str, Any] = {
            "home": str(HOME),
            "module": "traindx.capture.launch.relay",
            "out": str(folder),
        }
        request |= {"control": other.fileno(), "notes": notes, "streams": streams}
        try:
            self.process = subprocess.Popen(
                [sys.executable, "-I", "-S", "-c", STARTED],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=[other.fileno(), *passed],
            )
        finally:
            other.close()
            for number in passed:
                os.close(number)
        assert self.process.stdin is not None
        with contextlib.suppress(BrokenPipeError), self.process.stdin as words:
            words.write(json.dumps(request).encode())

    def begun(self, script: int) -> None:
        """The script has its ends; its process id."""
        for theirs in self.theirs:
            os.close(theirs)
        self.theirs = []
        self._tell(b"S", script)

    def received(self, number: int) -> bool:
        """Whether a signal that came here was sent to the whole group."""
        return self._tell(b"H", number) and self.control.recv(1) == b"\x01"

    def ended(self) -> None:
        """The script has ended: wait until what it printed has arrived. A process that it has left
        behind and that still holds its output is not waited for."""
        if self._tell(b"E", 0):
            with contextlib.suppress(OSError):
                self.control.recv(1)

    def close(self) -> None:
        """Close the relay; before `ended` that ends the script."""
        for theirs in self.theirs:
            os.close(theirs)
        self.theirs = []
        os.close(self.notes)
        self.control.close()
        if self.process.poll() is None:
            self.process.returncode = 0  # nobody waits for it: it may stay as long as a daemon of the script

    def _tell(self, letter: bytes, number: int) -> bool:
        try:
            self.control.sendall(MESSAGE.pack(letter, number), getattr(socket, "MSG_NOSIGNAL", 0))
        except OSError:  # it was killed: nothing is known, and nothing can be done
            return False
        return True
