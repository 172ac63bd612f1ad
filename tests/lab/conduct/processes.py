"""A command that is not recorded, pipes that show whether any process of it is left, and a server that it may reach."""

from __future__ import annotations

import http.server
import os
import select
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from traindx.lab.conduct.experiment import Conducted, conduct

# A grandchild in its own session, deaf to being asked to end; it holds the named pipe open.
CLINGING = """
import os, signal, sys
if os.getsid(0) != os.getpid():
    os.setsid()
signal.signal(signal.SIGTERM, signal.SIG_IGN)
pipe = os.open(sys.argv[1], os.O_WRONLY)
os.write(pipe, b"here")
os.close(1)
signal.pause()
"""

POST = "import sys, urllib.request\nprint(urllib.request.urlopen(sys.argv[1], data=b'loss=0.1').status)"


def unrecorded(
    out: Path, interventions: Sequence[str], steps: int | None, base: Mapping[str, str], folder: str
) -> dict[str, str]:
    out.mkdir()
    return {**base, "GIVEN": " ".join([*interventions, str(steps)])}


def run(script: str, folder: Path, *arguments: str, **options: object) -> Conducted:
    """Write a script into `folder`, and conduct it."""
    folder.mkdir(exist_ok=True)
    (folder / "train.py").write_text(script)
    command = [sys.executable, "train.py", *arguments]
    out = folder.parent / f"record-{len(list(folder.parent.glob('record-*')))}"
    options = {"grace": 0.2, **options}
    return conduct(command, record=unrecorded, out=out, folder=folder, **options)  # type: ignore[arg-type]


class Pipe:
    """A named pipe, from which reads the end of its last writer."""

    def __init__(self, path: Path) -> None:
        self.path = path
        os.mkfifo(path)
        self.end = os.open(path, os.O_RDONLY | os.O_NONBLOCK)

    def read(self, patience: float = 60.0) -> bytes:
        """What was written next; nothing when there is no writer (left)."""
        ready, _, _ = select.select([self.end], [], [], patience)
        assert ready, f"a process still holds {self.path}"
        return os.read(self.end, 4)

    def close(self) -> None:
        os.close(self.end)


class Posts(http.server.BaseHTTPRequestHandler):
    received: list[bytes]

    def do_POST(self) -> None:
        self.received.append(self.rfile.read(int(self.headers["Content-Length"])))
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        return


@contextmanager
def server() -> Iterator[tuple[str, list[bytes]]]:
    """The address of an HTTP server on this machine, and what it is sent."""
    posts: list[bytes] = []
    with http.server.HTTPServer(("127.0.0.1", 0), type("Kept", (Posts,), {"received": posts})) as made:
        thread = threading.Thread(target=made.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{made.server_port}/", posts
        finally:
            made.shutdown()
            thread.join()
