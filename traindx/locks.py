"""Locks of files: held by one process until it closes them or ends in any way (kill -9 included)."""

import contextlib
import fcntl
import os
from pathlib import Path


def take_lock(path: Path) -> int:
    """Lock a file, made if missing, and write its owner into it. Returns the descriptor that holds the lock,
    which the caller must close. Raises BlockingIOError if another process holds it, OSError where that is
    impossible."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise
    except OSError:
        return descriptor  # a file system without locks (some Lustre mounts): continue without one
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, f"{os.getpid()} {os.uname().nodename}\n".encode(), 0)
    return descriptor


def lock_holder(path: Path) -> str:
    """Who holds a lock: "process 12", or, on another machine, "process 12 on node7"; "" where unknown."""
    number, _, machine = path.read_text(encoding="utf-8", errors="replace").strip().partition(" ")
    if not number.isdecimal():
        return ""
    return f"process {number}" + (f" on {machine}" if machine != os.uname().nodename else "")


def take_abandoned(path: Path) -> int | None:
    """The descriptor of a lock that a process of this machine left behind, now ours. None if it is held, was
    never taken, or belongs to another machine, whose locks may be invisible here."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return None
    with contextlib.suppress(OSError):  # it is held, or is no file: either way not abandoned
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.pread(descriptor, 256, 0).decode("utf-8", "replace").split()[1:] == [os.uname().nodename]:
            return descriptor
    os.close(descriptor)
    return None
