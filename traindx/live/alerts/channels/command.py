"""A program of the user's, with the events as lines of JSON on its stdin. No shell ever reads them."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import tempfile

from traindx.errors import ConfigError
from traindx.live.alerts.messages import Message, NotDelivered
from traindx.redaction import redact_text
from traindx.reports.json import line

LIMIT = 60.0  # seconds after which a command that has not ended is ended
MOST_REASON = 200  # characters of its last words that are shown


def check(address: str) -> None:
    try:
        words = shlex.split(address)
    except ValueError as error:
        raise ConfigError(f"--on: {redact_text(address)!r} cannot be split into words: {error}") from error
    if not words or shutil.which(words[0]) is None:
        raise ConfigError(f"--on: there is no program {words[0] if words else address!r}")


def send(address: str, message: Message) -> None:
    environment = {**os.environ, "TRAINDX_REPEATED": "1" if message.repeated else ""}
    # Files, not pipes: the command has all of its input even if this process is killed, and a child that it leaves in
    # the background holds nothing open that is waited for.
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as said:
        given.write("".join(line(event) + "\n" for event in message.events).encode())
        given.seek(0)
        try:
            process = subprocess.Popen(
                shlex.split(address), stdin=given, stdout=subprocess.DEVNULL, stderr=said, env=environment,
                start_new_session=True,
            )  # fmt: skip
        except OSError as error:
            raise NotDelivered(f"cannot be started: {error.strerror}") from error
        message.begun()
        try:
            status = process.wait(LIMIT)
        except subprocess.TimeoutExpired as error:
            process.kill()
            process.wait()
            raise NotDelivered(f"did not end within {LIMIT:g} s") from error
        if status:
            said.seek(max(said.tell() - 4 * MOST_REASON, 0))
            words = said.read().decode("utf-8", "replace").strip().splitlines()[-1:]
            raise NotDelivered(": ".join([f"exit status {status}", *map(redact_text, words)])[:MOST_REASON])
