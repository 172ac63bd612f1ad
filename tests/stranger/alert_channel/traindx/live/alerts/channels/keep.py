"""Appends messages to a file: keep:PATH."""

from __future__ import annotations

from pathlib import Path

from traindx.errors import ConfigError
from traindx.live.alerts.messages import Message, NotDelivered


def path_of(address: str) -> Path:
    return Path(address.partition(":")[2])


def check(address: str) -> None:
    if not path_of(address).name:
        raise ConfigError("--notify keep: the name of a file is missing")


def send(address: str, message: Message) -> None:
    try:
        with path_of(address).open("a", encoding="utf-8") as file:
            file.write(message.text + "\n")
    except OSError as error:
        raise NotDelivered(error.strerror or "it cannot be written") from error
