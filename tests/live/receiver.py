"""Receivers of alerts that are real: a program, or a server on this machine."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import NamedTuple


class Receiver(NamedTuple):
    address: str
    failing: str
    arrived: Callable[[], list[str]]


class Web(NamedTuple):
    port: int
    bodies: list[str]
    statuses: list[int]  # of the next answers; 200 when empty
    before_answer: list[Callable[[], None]]


@contextlib.contextmanager
def server() -> Iterator[Web]:
    """Keeps what is posted to it, and refuses what is posted below /refuse."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            status = 403 if "refuse" in self.path else web.statuses.pop(0) if web.statuses else 200
            if status == 200:
                web.bodies.append(body)
            for act in web.before_answer:
                act()
            with contextlib.suppress(OSError):  # who sent it may be gone
                self.send_response(status)
                self.end_headers()

        def log_message(self, *arguments: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as made:
        web = Web(made.server_port, [], [], [])
        thread = threading.Thread(target=made.serve_forever, daemon=True)
        thread.start()
        try:
            yield web
        finally:
            made.shutdown()
            thread.join()
