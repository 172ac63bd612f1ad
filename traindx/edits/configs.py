"""Values in YAML, JSON and TOML files: found by their keys, and changed with all else left as it stands.

The text around a value is never written anew: the one place is replaced whose change, read back by the
format's parser, changes that value and nothing else.
"""

from __future__ import annotations

import copy
import json
import re
import tomllib
from collections.abc import Iterator
from typing import Any

from traindx.errors import MissingExtra

SCALAR = r"(?P<value>\"[^\"\n]*\"|'[^'\n]*'|[^\s,#}\]\"']+)"
Keys = tuple[str, ...]


def parse(path: str, text: str) -> Any:
    """The document; None where it cannot be read. Raises MissingExtra for YAML without its parser."""
    text = text.removeprefix("\ufeff")  # the parsers of JSON and TOML refuse a byte-order mark
    try:
        if path.endswith(".json"):
            return json.loads(text)
        if path.endswith(".toml"):
            return tomllib.loads(text)
        return yaml(text)
    except ValueError:
        return None


def yaml(text: str) -> Any:
    try:
        from ruamel.yaml import YAML
        from ruamel.yaml.error import YAMLError
    except ImportError as error:
        raise MissingExtra("to edit YAML: pip install 'traindx[fix]'") from error
    try:
        return YAML(typ="safe", pure=True).load(text)
    except YAMLError:
        return None


def entries(document: Any, above: Keys = ()) -> Iterator[tuple[Keys, Any]]:
    """(keys from the top, value) of every scalar below mappings."""
    if isinstance(document, dict):
        for key, value in document.items():
            yield from entries(value, (*above, str(key)))
    elif not isinstance(document, list):
        yield above, document


def ending(document: Any, keys: Keys) -> list[tuple[Keys, Any]]:
    """The entries whose keys end with these."""
    return [(path, value) for path, value in entries(document) if path[-len(keys) :] == keys]


def line_of(path: str, text: str, keys: Keys) -> int:
    """The line (from 1) of an entry; 0 where it cannot be told."""
    places = [m.start("value") for m in candidates(text, keys) if changed(path, text, keys, m) is not None]
    return text.count("\n", 0, places[0]) + 1 if len(places) == 1 else 0


def with_value(path: str, text: str, keys: Keys, written: str) -> str | None:
    """The text with another value, in the format's writing, at these keys; None where no single place is it."""
    want = parse(path, text)
    value = parse(path, single(path, written))
    if value is None:  # no such number in this format: a rate that overflowed to "inf.0"
        return None
    put(want, keys, value["x"])
    found = []
    for match in candidates(text, keys):
        new = text[: match.start("value")] + written + text[match.end("value") :]
        if parse(path, new) == want:
            found.append(new)
    return found[0] if len(found) == 1 else None


def single(path: str, written: str) -> str:
    """A document in the format of `path` that holds only this value, under "x"."""
    if path.endswith(".json"):
        return f'{{"x": {written}}}'
    return f"x = {written}" if path.endswith(".toml") else f"x: {written}"


def candidates(text: str, keys: Keys) -> Iterator[re.Match[str]]:
    return re.finditer(rf"(?<![\w.-])[\"']?{re.escape(keys[-1])}[\"']?\s*[:=]\s*{SCALAR}", text)


def changed(path: str, text: str, keys: Keys, match: re.Match[str]) -> str | None:
    """The text with a mark in the place of a value, where that is the value of these keys."""
    mark = '"traindx"'
    new = text[: match.start("value")] + mark + text[match.end("value") :]
    want = parse(path, text)
    put(want, keys, "traindx")
    return new if parse(path, new) == want else None


def put(document: Any, keys: Keys, value: Any) -> None:
    for key in keys[:-1]:
        document = document[key]
    document[keys[-1]] = copy.copy(value)


def load_names(path: str) -> tuple[str, ...]:
    """What a script may call a file when it opens it."""
    return (path, path.rpartition("/")[2])
