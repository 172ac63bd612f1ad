"""The folder of a record: made, and claimed, so that two starts never write into the same one."""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from collections.abc import Sequence
from itertools import count
from pathlib import Path

from traindx.atomic_write import make_folder
from traindx.errors import ConfigError

DIARY = ".launch"  # how far the processes of a command got; locked while it runs
STOP_FILE = ".stop"  # its text is the reason for which the script has to end, as asked for by --stop-on
LEFT = (".claim-*", "events-*-*.jsonl", "setup.json")  # by a start that recorded no numbers


def run_folder(command: Sequence[str], base: Path, now: float | None = None) -> Path:
    """Make `base`/<script>-<local time>, or the first of <that>-2, -3 ... that is not there. Raises
    ConfigError."""
    name = f"{script_name(command)}-{time.strftime('%Y%m%d-%H%M%S', time.localtime(now))}"
    for i in count(1):
        folder = base / (name if i == 1 else f"{name}-{i}")
        try:
            make_folder(folder, there=False)
            return folder
        except FileExistsError:  # of another start in this second, too
            continue
        except OSError as error:
            raise ConfigError(f"{folder}: cannot be made: {error.strerror}") from error
    raise AssertionError  # count() has no end


def script_name(command: Sequence[str]) -> str:
    """A short name for what a command trains: its first script, or the module after -m."""
    for word, after in zip(command, [*command[1:], ""], strict=True):
        if word == "-m" and after:
            return after.rsplit(".", 1)[-1]
        if word.endswith(".py"):
            return Path(word).stem
    return Path(command[0]).stem or "run"


def start_folder(folder: Path) -> None:
    """Make a record's folder where nobody else will. Raises ConfigError as Claim does."""
    with Claim(folder):
        return


def forget_start(folder: Path) -> None:
    """Remove the diary of a start that recorded nothing from a folder of the user's, unless another one is
    at work there. What the script printed stays; so does a record that was begun, which the next start knows
    by the diary."""
    if any(folder.glob(".claim-*")):
        return
    with contextlib.suppress(OSError), open(folder / DIARY, "rb") as diary:
        fcntl.flock(diary, fcntl.LOCK_EX | fcntl.LOCK_NB)
        (folder / DIARY).unlink()


class Claim:
    """The folder of one start, from its first moment to its end (also to that of a kill -9).

    Raises ConfigError where it cannot be written, holds a run, or another start is at work in it."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.lock = folder, -1

    def __enter__(self) -> Claim:
        try:
            make_folder(self.folder)
            self.lock = os.open(self.folder / DIARY, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
            self.take()
        except OSError as error:
            self.release()
            raise ConfigError(f"--out {self.folder}: cannot be written: {error.strerror}") from error
        except ConfigError:
            self.release()
            raise
        return self

    def take(self) -> None:
        try:
            fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ConfigError(
                f"--out {self.folder}: another start is recorded there; give another folder"
            ) from None
        if any(self.folder.glob("steps-*.arrows")):
            raise ConfigError(f"--out {self.folder}: holds a recorded run; give another folder")
        if os.fstat(self.lock).st_size:  # else the files are not ours
            for file in [file for pattern in LEFT for file in self.folder.glob(pattern)]:
                file.unlink()
            os.ftruncate(self.lock, 0)

    def release(self) -> None:
        if self.lock >= 0:
            os.close(self.lock)
        self.lock = -1

    def __exit__(self, *_: object) -> None:
        self.release()
