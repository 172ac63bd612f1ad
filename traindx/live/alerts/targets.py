"""Where messages go. A secret comes from the environment or from a file, and is never part of what is shown or kept."""

import hashlib
import importlib
import os
import re
from pathlib import Path
from types import ModuleType

import msgspec

from traindx.config import Alerts
from traindx.errors import ConfigError
from traindx.installed import modules_of
from traindx.live.alerts import channels
from traindx.redaction import redact_text
from traindx.vocabulary import Severity

VARIABLE = re.compile(r"\$\{?([A-Za-z_]\w*)\}?")
# Services whose address can do without a secret: a local server, a desktop, the system's log.
OPEN = re.compile("json|jsons|xml|xmls|form|forms|ntfy|ntfys|syslog|dbus|gnome|macosx|windows")


class Target(msgspec.Struct, frozen=True):
    """`spec` is what the user wrote: with the name of a variable or a file in place of a secret."""

    channel: str
    spec: str
    least: Severity

    @property
    def module(self) -> ModuleType:
        return importlib.import_module(f"{channels.__name__}.{self.channel}")

    @property
    def name(self) -> str:
        """The key in the file of what was delivered: a hash, because a command may hold a secret."""
        words = f"{self.channel} {self.least} {self.spec}"
        return f"{self.channel} {hashlib.sha256(words.encode()).hexdigest()[:16]}"

    @property
    def shown(self) -> str:
        return redact_text(self.spec)

    def address(self) -> str:
        """The spec with its secrets, read again for each message: a token may be renewed. Raises ConfigError."""
        return self.spec if self.channel == "command" else resolve_address(self.spec)


def targets(settings: Alerts) -> list[Target]:
    """All targets of the settings, each of them checked. Raises ConfigError and MissingExtra."""
    found = [Target("command", command, least) for least, command in settings.on]
    found += [Target(channel_of(spec), spec, settings.severity) for spec in settings.notify]
    for target in found:
        target.module.check(target.address())
    return list(dict.fromkeys(found))


def channel_of(spec: str) -> str:
    """The channel of an address: the one that is named like its scheme, or apprise. Raises ConfigError for an address
    that may hold a secret as it is written, because everybody on the machine sees the arguments of a command."""
    scheme = spec.partition(":")[0].lower()
    secret = redact_text(spec) != spec or (not OPEN.fullmatch(scheme) and not VARIABLE.search(spec))
    if secret and not spec.startswith("@"):
        shown = f"{scheme}://***" if "://" in spec else "***"
        raise ConfigError(
            f"--notify {shown}: give the address by a variable ('$NAME') or a file (@FILE). It may hold a secret, and "
            "other users can see the arguments of a command."
        )
    scheme = resolve_address(spec).partition(":")[0].lower()
    services = {home.rpartition(".")[2] for home in modules_of(channels.__name__, channels.__path__)} - {
        "command"
    }
    return scheme if scheme in services else "apprise"


def resolve_address(spec: str) -> str:
    """An address with what its variables and its file hold. Raises ConfigError for one that is missing."""
    if spec.startswith("@"):
        try:
            return Path(spec[1:]).expanduser().read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(f"--notify {spec}: the file cannot be read") from error
    missing = [name for name in VARIABLE.findall(spec) if name not in os.environ]
    if missing:
        raise ConfigError(f"--notify {redact_text(spec)}: the variable {missing[0]} is not set")
    return VARIABLE.sub(lambda found: os.environ[found[1]], spec)
