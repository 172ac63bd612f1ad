"""A real PostgreSQL server, of the distribution's package, for as long as a test needs it."""

from __future__ import annotations

import contextlib
import glob
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

NOBODY = "postgres"  # whom the package runs the server as; it refuses to be run by root


def program(name: str) -> str | None:
    """Where Debian keeps it, or wherever PATH says."""
    return next(
        iter(sorted(glob.glob(f"/usr/lib/postgresql/*/bin/{name}"), reverse=True)), shutil.which(name)
    )


@contextlib.contextmanager
def running() -> Iterator[str]:
    """A server that listens at a socket in its own folder; the URL of an empty database in it."""
    initdb, control = program("initdb"), program("pg_ctl")
    if initdb is None or control is None:
        pytest.skip(
            "NOT TESTED: there is no PostgreSQL server on this machine (initdb; the package postgresql)"
        )
    own: dict[str, Any] = {
        "stdin": subprocess.DEVNULL,
        "stdout": subprocess.DEVNULL,
        "check": True,
        "cwd": "/",
    }
    with tempfile.TemporaryDirectory(
        prefix="pg-", dir="/tmp"
    ) as place:  # a socket's path has 107 characters at most
        if not os.getuid():
            shutil.chown(place, NOBODY)
            own |= {"user": NOBODY, "extra_groups": []}
        data, log = f"{place}/data", f"{place}/log"
        subprocess.run([initdb, "-D", data, "-A", "trust", "-U", "tester", "--no-sync", "-E", "UTF8"], **own)
        server = [control, "-D", data, "-l", log, "-w", "-t", "120"]
        subprocess.run([*server, "-o", f"-k {place} -c listen_addresses= -c fsync=off", "start"], **own)
        try:
            Path(place).chmod(0o755)
            yield f"postgresql://tester@/postgres?host={place}"
        finally:
            subprocess.run([*server, "-m", "immediate", "stop"], **own)
