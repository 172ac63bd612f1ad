"""A local HTTP server as apprise's json:// sends to it."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path

from tests.live.receiver import Receiver, server


@contextlib.contextmanager
def receiver(folder: Path) -> Iterator[Receiver]:
    with server() as web:
        yield Receiver(
            address=f"json://user:hunter2secret@localhost:{web.port}/token4711",
            failing=f"json://user:hunter2secret@localhost:{web.port}/token4711/refuse",
            arrived=lambda: [
                line for body in web.bodies for line in json.loads(body)["message"].splitlines()
            ],
        )
