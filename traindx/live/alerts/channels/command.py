"""A program of the user's, with the events as lines of JSON on its stdin. No shell ever reads them."""

import contextlib
import fcntl
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from typing import IO

from traindx.errors import ConfigError
from traindx.live.alerts import command_runner
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
    with open(message.receipt, "a+b") as receipt:
        with contextlib.suppress(OSError):  # a file system without locks (some Lustre mounts)
            # The errand of a killed watch holds this lock until its command has ended.
            fcntl.flock(receipt, fcntl.LOCK_EX)
        if status_of(receipt, message) == "0":
            return
        receipt.truncate(0)
        last_words = execute(address, message, receipt)
        status = status_of(receipt, message)
    if status == "late":
        raise NotDelivered(f"did not end within {LIMIT:g} s")
    if status != "0":
        raise NotDelivered(": ".join([f"exit status {status or 'unknown'}", *last_words])[:MOST_REASON])


def status_of(receipt: IO[bytes], message: Message) -> str:
    """How the command ended that was given this message; "" where it was not, or the machine went down with it."""
    receipt.seek(0)
    name, _, status = receipt.read().decode().strip().partition(" ")
    return status if name == message.name else ""


def execute(address: str, message: Message, receipt: IO[bytes]) -> list[str]:
    """Run the command to its end; the last line that it wrote to stderr."""
    errand_call = [sys.executable, "-I", "-S", command_runner.__file__, message.name, str(LIMIT)]
    environment = {**os.environ, "TRAINDX_REPEATED": "1" if message.repeated else ""}
    # Files, not pipes: the command has all of its input even if this process is killed, and a child that it leaves in
    # the background holds nothing open that is waited for.
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as said:
        given.write("".join(line(event) + "\n" for event in message.events).encode())
        given.seek(0)
        subprocess.run(
            [*errand_call, *shlex.split(address)], stdin=given, stdout=receipt, stderr=said, env=environment,
            start_new_session=True, check=False,
        )  # fmt: skip
        said.seek(max(said.seek(0, os.SEEK_END) - 4 * MOST_REASON, 0))
        return [
            redact_text(words) for words in said.read().decode("utf-8", "replace").strip().splitlines()[-1:]
        ]
