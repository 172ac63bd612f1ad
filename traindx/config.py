"""Settings from `[tool.traindx]` in pyproject.toml, from traindx.toml, and from the command line.

    select     = ["LOS", "validation-gap-grows"]     # rules to ask: code prefixes or slugs
    ignore     = ["LOS004"]
    severity   = "high"                              # exit status 1 from this severity on
    thresholds.loss-plateaus.good = 0.95            # see docs/thresholds.md
    aliases    = { "train/loss" = "my_loss" }        # canonical name = name in the log
    facts      = { optimizer = "adam", classes = 10 }
    alerts.on  = { critical = "./page-me.sh" }       # severity = command, for `traindx watch`
    alerts.notify = ["ntfy://$NTFY_TOPIC", "@~/.config/slack-url"]   # secrets: a variable or a file
    alerts.severity = "high"                         # of what `notify` gets
    alerts.quiet-hours = "22:00-07:00"               # failures and critical findings only; the rest waits

A key or value that traindx does not know is an error that says where it is: a setting that
silently does nothing is worse than none. Whether rules and thresholds of these names exist is
checked by the pipeline, which knows the rules.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_type_hints

import msgspec

from traindx.errors import ConfigError
from traindx.vocabulary import FACT_FIELDS, SEVERITIES, SIGNALS, Fact, Setup, Severity

if TYPE_CHECKING:
    from datetime import datetime

MOST_BYTES = 1 << 20  # of a settings file
FILE_NAMES = ("traindx.toml", "pyproject.toml")  # the first wins within one folder

# What people call the facts that Setup knows under a shorter name.
FACT_SYNONYMS = {
    "learning_rate": "lr",
    "batch": "batch_size",
    "num_classes": "classes",
    "n_classes": "classes",
    "samples": "dataset_size",
    "epochs": "planned_epochs",
    "max_steps": "planned_steps",
    "total_steps": "planned_steps",
    "warmup": "warmup_steps",
    "clip": "clip_norm",
    "max_grad_norm": "clip_norm",
    "gradient_accumulation_steps": "accumulation",
}


HOUR = r"([01]\d|2[0-3]):[0-5]\d"


class Alerts(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="kebab"):
    """Messages of `traindx watch`. `on`: the least severity and the command for it. `notify`: addresses of services.
    What happens within `group_seconds` is one message, and a target gets one at most every `least_seconds`; nothing is
    dropped. A digest of everything goes to each target every `digest_hours` (0: none)."""

    on: tuple[tuple[Severity, str], ...] = ()
    notify: tuple[str, ...] = ()
    severity: Severity = "high"
    quiet_hours: Annotated[str, msgspec.Meta(pattern=f"^({HOUR}-{HOUR})?$")] = ""
    group_seconds: Annotated[float, msgspec.Meta(ge=0)] = 2.0
    least_seconds: Annotated[float, msgspec.Meta(ge=0)] = 60.0
    digest_hours: Annotated[float, msgspec.Meta(ge=0)] = 0.0

    def is_quiet(self, now: datetime) -> bool:
        """Whether it is a quiet hour at the local time `now`; the hours may go over midnight."""
        first, _, last = self.quiet_hours.partition("-")
        time = f"{now:%H:%M}"
        return first <= time < last if first <= last else time >= first or time < last


class Config(msgspec.Struct, frozen=True, kw_only=True):
    """All settings of one call.

    `select`, `ignore`: code prefixes ("LOS") or slugs. An empty `select` means every rule.
    `thresholds`: rule slug -> threshold name -> value. `aliases`: canonical signal -> name in the
    log. `facts`: what the user says about the run, under `Setup`'s field names where it has one.
    """

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    severity: Severity = "medium"
    thresholds: Mapping[str, Mapping[str, float]] = {}
    aliases: Mapping[str, str] = {}
    facts: Mapping[str, Fact] = {}
    alerts: Alerts = Alerts()

    def override(
        self,
        *,
        select: Iterable[str] = (),
        ignore: Iterable[str] = (),
        severity: str | None = None,
        aliases: Mapping[str, str] | None = None,
        facts: Mapping[str, object] | None = None,
    ) -> Config:
        """A copy in which what is given replaces the setting; `aliases` and `facts` are added to
        those already there. Raises ConfigError for a value that makes no sense."""
        return msgspec.structs.replace(
            self,
            select=tuple(select) or self.select,
            ignore=tuple(ignore) or self.ignore,
            severity=severity_named(severity, "--severity") if severity else self.severity,
            aliases={**self.aliases, **checked_aliases(aliases or {}, "--map")},
            facts={**self.facts, **checked_facts(facts or {}, "--fact")},
        )


def find(start: Path) -> Path | None:
    """The settings file that holds for `start`: the nearest traindx.toml, or pyproject.toml with a
    `[tool.traindx]` table, in the folder itself or one above it."""
    for folder in (start, *start.parents):
        for name in FILE_NAMES:
            candidate = folder / name
            if candidate.is_file() and table_of(candidate) is not None:
                return candidate
    return None


def load(path: Path) -> Config:
    """Read one settings file. Raises ConfigError naming the file and the key."""
    table = table_of(path)
    if table is None:
        raise ConfigError(f"{path}: there is no [tool.traindx] table in it")
    return parse(table, str(path))


def table_of(path: Path) -> dict[str, Any] | None:
    """The settings in a TOML file: `[tool.traindx]` of a pyproject.toml (None when it has none),
    the whole of any other file."""
    try:
        with path.open("rb") as stream:
            data = stream.read(MOST_BYTES + 1)
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from error
    if len(data) > MOST_BYTES:
        raise ConfigError(f"{path}: is larger than {MOST_BYTES >> 20} MiB, which no settings file is")
    if path.name == "pyproject.toml" and b"traindx" not in data:
        return None  # most have none: not worth the parser
    import tomllib

    try:
        whole = tomllib.loads(data.decode("utf-8-sig"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ConfigError(f"{path}: is not valid TOML: {error}") from error
    if path.name != "pyproject.toml":
        return whole
    table = whole.get("tool", {}).get("traindx")
    if table is not None and not isinstance(table, dict):
        raise ConfigError(f"{path}: tool.traindx must be a table")
    return table


def parse(table: Mapping[str, Any], source: str) -> Config:
    """Settings from a parsed table; `source` is named in errors."""
    refuse_unknown(table, Config.__struct_fields__, f"{source}: unknown setting")
    return Config(
        select=strings(table.get("select", []), f"{source}: select"),
        ignore=strings(table.get("ignore", []), f"{source}: ignore"),
        severity=severity_named(table.get("severity", "medium"), f"{source}: severity"),
        thresholds={
            slug: {
                name: number(value, f"{source}: thresholds.{slug}.{name}") for name, value in inner.items()
            }
            for slug, inner in tables(table.get("thresholds", {}), f"{source}: thresholds").items()
        },
        aliases=checked_aliases(
            require_mapping(table.get("aliases", {}), f"{source}: aliases"), f"{source}: aliases"
        ),
        facts=checked_facts(require_mapping(table.get("facts", {}), f"{source}: facts"), f"{source}: facts"),
        alerts=checked_alerts(
            require_mapping(table.get("alerts", {}), f"{source}: alerts"), f"{source}: alerts"
        ),
    )


def checked_alerts(table: Mapping[str, Any], place: str) -> Alerts:
    refuse_unknown(table, Alerts.__struct_encode_fields__, f"{place}: unknown setting")
    pairs = require_mapping(table.get("on", {}), f"{place}.on")
    try:
        return msgspec.convert({**table, "on": list(pairs.items())}, Alerts)
    except msgspec.ValidationError as error:
        raise ConfigError(f"{place}: {error}") from error


def suggestion(word: str, known: Iterable[str]) -> str:
    """ "; did you mean X?" for the nearest of `known`, or nothing when none is near."""
    import difflib

    near = difflib.get_close_matches(word, list(known), n=1, cutoff=0.6)
    return f"; did you mean {near[0]!r}?" if near else ""


def refuse_unknown(given: Iterable[str], known: Iterable[str], what: str) -> None:
    names = tuple(known)
    for key in given:
        if key not in names:
            raise ConfigError(f"{what} {key!r}{suggestion(key, names) or '; known are ' + ', '.join(names)}")


def strings(value: Any, place: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ConfigError(f"{place} must be a list of strings, not {value!r}")
    return tuple(value)


def require_mapping(value: Any, place: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ConfigError(f"{place} must be a table, not {value!r}")
    return value


def tables(value: Any, place: str) -> dict[str, dict[str, Any]]:
    return {
        key: require_mapping(inner, f"{place}.{key}") for key, inner in require_mapping(value, place).items()
    }


def number(value: Any, place: str) -> float:
    amount = finite(value) if isinstance(value, int | float) else None
    if amount is None:
        raise ConfigError(f"{place} must be a number, not {value!r:.80}")
    return amount


def finite(value: Any) -> float | None:
    """`value` as a number that a float can hold, else None; true and false are no numbers."""
    try:
        amount = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return amount if math.isfinite(amount) else None


def severity_named(value: Any, place: str) -> Severity:
    for severity in SEVERITIES:
        if value == severity:
            return severity
    near = suggestion(str(value), SEVERITIES)
    raise ConfigError(f"{place} must be one of {', '.join(SEVERITIES)}, not {value!r}{near}")


@cache
def canonical_names() -> tuple[re.Pattern[str], ...]:
    """One pattern per canonical signal; `<metric>` and `<module>` match any name."""
    return tuple(re.compile(re.sub(r"<[^>]+>", ".+", re.escape(kind.name)) + r"\Z") for kind in SIGNALS)


def checked_aliases(aliases: Mapping[str, Any], place: str) -> dict[str, str]:
    for canonical, original in aliases.items():
        if not any(pattern.match(canonical) for pattern in canonical_names()):
            near = suggestion(f"train/{canonical}", (kind.name for kind in SIGNALS))
            raise ConfigError(f"{place}: {canonical!r} is not a signal (see docs/signals.md){near}")
        if not isinstance(original, str) or not original:
            raise ConfigError(
                f"{place}: {canonical!r} must name a column or tag of the log, not {original!r}"
            )
    return dict(aliases)


def checked_facts(facts: Mapping[str, Any], place: str) -> dict[str, Fact]:
    """Facts under `Setup`'s names and in its types. A name that is nearly one of them is taken for
    a slip; any other is kept as it is, for Setup takes free facts too."""
    checked: dict[str, Fact] = {}
    for given, value in facts.items():
        name = given.strip().lower().replace("-", "_")
        name = FACT_SYNONYMS.get(name, name)
        if name in FACT_FIELDS:
            checked[name] = typed_fact(name, value, place)
            continue
        import difflib

        near = difflib.get_close_matches(name, sorted(FACT_FIELDS), n=1, cutoff=0.8)
        if near:
            raise ConfigError(f"{place}: unknown fact {given!r}; did you mean {near[0]!r}?")
        checked[given.strip()] = free_fact(value, f"{place}: {given}")
    return checked


def typed_fact(name: str, value: Any, place: str) -> Fact:
    """`value` as the type that Setup gives the field; text is converted ("1e-3", "50_000")."""
    wanted = fact_types()[name]
    if wanted is str:
        return str(value)
    converted = finite(value)
    if converted is None or (wanted is int and converted != int(converted)):
        kind = "a whole number" if wanted is int else "a number"
        raise ConfigError(f"{place}: {name} must be {kind}, not {value!r:.80}")
    return int(converted) if wanted is int else converted


def free_fact(value: Any, place: str) -> Fact:
    """A fact that Setup has no field for: numbers and true/false are recognized in text."""
    if isinstance(value, int) and abs(value) >= 1 << 63:
        return str(value)  # JSON's readers hold no larger number
    if isinstance(value, bool | int | float):
        return value
    if not isinstance(value, str):
        raise ConfigError(f"{place} must be text, a number or true/false, not {value!r}")
    if value.lower() in ("true", "false"):
        return value.lower() == "true"
    try:
        return float(value)
    except ValueError:
        return value


@cache
def fact_types() -> dict[str, type]:
    """The type of every field of Setup that holds a single fact, without its None."""
    hints = get_type_hints(Setup)
    return {name: next(t for t in get_args(hints[name]) if t is not type(None)) for name in FACT_FIELDS}
