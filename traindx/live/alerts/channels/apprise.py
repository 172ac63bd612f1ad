"""Any service that apprise knows: mail, Slack, Discord, Teams, ntfy, Telegram, a web hook."""

import logging
import re
import warnings
from typing import Any
from urllib.parse import unquote

from traindx.errors import ConfigError, MissingExtra
from traindx.live.alerts.messages import Message, NotDelivered


def service(address: str) -> Any:
    """What apprise makes of an address; an empty collection for one that it does not know."""
    with warnings.catch_warnings():  # those of its own imports, where the user made them errors
        warnings.simplefilter("ignore")
        try:
            import apprise
        except ImportError as error:
            raise MissingExtra("--notify needs apprise: pip install 'traindx[alerts]'") from error
        made = apprise.Apprise()
        with apprise.LogCapture():  # it logs what it could not read, secrets included
            made.add(address)
    return made


def check(address: str) -> None:
    if not len(service(address)):
        raise ConfigError(f"--notify: apprise knows no service for {address.partition(':')[0]}://***")


def send(address: str, message: Message) -> None:
    import apprise

    made = service(address)
    with apprise.LogCapture(level=logging.WARNING, fmt="%(message)s") as log:
        arrived = made.notify(title=message.title, body=message.text, body_format=apprise.NotifyFormat.TEXT)
        why = log.getvalue().strip().splitlines()
    if not arrived:
        raise NotDelivered(hide_address(why[0] if why else "no reason was given", address))


def hide_address(text: str, address: str) -> str:
    """A text without any part of an address, for each of them may be the secret."""
    parts = re.split(r"[/:@?&=,]+", address)[1:]
    for part in sorted({*parts, *map(unquote, parts)}, key=len, reverse=True):
        text = text.replace(part, "***") if len(part) > 3 else text
    return text
