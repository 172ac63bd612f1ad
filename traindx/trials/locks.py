"""Locks of files: held by one process until it closes them or ends, in whatever way (kill -9, too)."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path


def take_lock(path: Path) -> int:
    """Lock a file, made where there is none, and write the number of this process into it; the descriptor that holds
    it, to be closed by whoever took it. Raises BlockingIOError where another holds it, OSError where it cannot be."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise
    except OSError:
        return descriptor  # a file system without locks (Lustre, mounted so): work goes on as if alone
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, b"%d\n" % os.getpid(), 0)
    return descriptor
