"""Values in YAML, JSON and TOML files: found by their keys, and changed without touching the rest.

The text around a value is never rewritten. A change is made at the one place whose change, read back by
the format's parser, changes that value and nothing else."""

import copy
import json
import re
import tomllib
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice
from typing import Any, NamedTuple

from traindx.errors import MissingExtra

REFERENCE = re.compile(r"\$\{(\.*)([\w-]+(?:\.[\w-]+)*)\}")
SCALAR = r"(?P<value>\"[^\"\n]*\"|'[^'\n]*'|[^\s,#}\]\"']+)"
BRACKETS = re.compile(r"[\[\]{}]")
Keys = tuple[str, ...]
MOST_TEXT = 64 << 10  # characters; YAML of that size takes a second or two
DEEPEST, MOST_VALUES = 100, 20_000  # a mapping of YAML is two deep
MOST_PLACES = 20  # that a value could be at, each of which is tried


class Read(NamedTuple):
    """A document, or None and why it cannot be read."""

    document: Any
    why: str = ""


def parse(path: str, text: str) -> Any:
    """A copy of the document that the caller may modify. None where it is not read. Raises MissingExtra for
    YAML without its parser."""
    return copy.deepcopy(read(path, text).document)


@lru_cache(maxsize=64)
def read(path: str, text: str) -> Read:
    """The document, which must not be modified. A file that is larger, deeper or, with its aliases expanded,
    longer than what people write is not read, because it is parsed again and again while an edit is
    sought."""
    text = text.removeprefix("\ufeff")  # the parsers of JSON and TOML refuse a byte-order mark
    if len(text) > MOST_TEXT:
        return Read(None, f"it is larger than {MOST_TEXT >> 10} KiB")
    if nesting_depth(text) > DEEPEST:
        return Read(None, "it is nested too deep")
    try:
        if path.endswith(".json"):
            found = json.loads(text)
        else:
            found = tomllib.loads(text) if path.endswith(".toml") else yaml(text)
    except RecursionError:
        return Read(None, "it is nested too deep")
    except ValueError as error:
        return Read(None, str(error).partition("\n")[0])
    why = why_too_large(found)
    return Read(None, why) if why else Read(found)


def nesting_depth(text: str) -> int:
    """How deep brackets, or the keys of one line, are nested in a text, including its words and comments.
    Parsers take time by the square of that."""
    depth = 0
    depths = [depth := depth + (1 if found[0] in "[{" else -1) for found in BRACKETS.finditer(text)]
    return max(*depths, *(line.partition("=")[0].count(".") for line in text.splitlines()), 0, 0)


def yaml(text: str) -> Any:
    """Raises ValueError for a damaged or too large document. Its nodes are counted before they become
    values, because merging them (`<<`) expands aliases."""
    try:
        from ruamel.yaml import YAML
        from ruamel.yaml.error import YAMLError
    except ImportError as error:
        raise MissingExtra("to edit YAML: pip install 'traindx[fix]'") from error
    try:
        if why := why_too_large(YAML(typ="safe", pure=True).compose(text)):
            raise ValueError(why)
        return YAML(typ="safe", pure=True).load(text)
    except (
        YAMLError,
        TypeError,
        AttributeError,
        KeyError,
        AssertionError,
    ) as error:  # the others: of odd keys and tags
        raise ValueError(f"it is damaged: {' '.join(str(error).split())}") from error


def why_too_large(document: Any) -> str:
    """Why a document is not searched, or "". An alias counts as often as it is used, and one that contains
    itself never ends, so no more is followed than would be allowed."""
    waiting, count = [(document, 0)], 0
    while waiting:
        value, depth = waiting.pop()
        count += 1
        if depth > DEEPEST:
            return "it is nested too deep, or holds itself"
        if count > MOST_VALUES:
            return f"it holds more than {MOST_VALUES} values, aliases written out"
        value = getattr(value, "value", value)  # of a node of YAML
        if isinstance(value, (dict, list, tuple)):
            waiting += [(one, depth + 1) for one in (value.values() if isinstance(value, dict) else value)]
    return ""


def entries(document: Any, above: Keys = ()) -> Iterator[tuple[Keys, Any]]:
    """(keys from the top, value) of every scalar below mappings."""
    if isinstance(document, dict):
        for key, value in document.items():
            yield from entries(value, (*above, str(key)))
    elif not isinstance(document, list):
        yield above, document


def entries_ending_with(document: Any, keys: Keys) -> list[tuple[Keys, Any]]:
    """The entries whose keys end with these."""
    return [(path, value) for path, value in entries(document) if path[-len(keys) :] == keys]


def follow_reference(document: Any, keys: Keys, value: Any) -> tuple[Keys, Any]:
    """The entry whose value this one takes over: `${optim.lr}` from the top, `${.lr}` from next to it. The same
    where it takes over none."""
    known = dict(entries(document))
    for _ in range(DEEPEST):
        match = REFERENCE.fullmatch(value.strip()) if isinstance(value, str) else None
        if match is None:
            break
        above = keys[: -len(match[1])] if match[1] else ()
        to = (*above, *match[2].split("."))
        if to not in known:
            break
        keys, value = to, known[to]
    return keys, value


def line_of(path: str, text: str, keys: Keys) -> int:
    """The line (from 1) of an entry, 0 where it is unknown."""
    places = [
        m.start("value") for m in candidates(text, keys) if mark_value(path, text, keys, m) is not None
    ]
    return text.count("\n", 0, places[0]) + 1 if len(places) == 1 else 0


def replace_value(path: str, text: str, keys: Keys, written: str) -> str | None:
    """The text with another value, written in the format of the file, at these keys. None where several
    places could be it."""
    want = parse(path, text)
    value = parse(path, single_value_document(path, written))
    if value is None:  # no such number in this format: a rate that overflowed to "inf.0"
        return None
    set_value(want, keys, value["x"])
    found = []
    for match in candidates(text, keys):
        new = text[: match.start("value")] + written + text[match.end("value") :]
        if parse(path, new) == want:
            found.append(new)
    return found[0] if len(found) == 1 else None


def single_value_document(path: str, written: str) -> str:
    """A document in the format of `path` that holds only this value, under "x"."""
    if path.endswith(".json"):
        return f'{{"x": {written}}}'
    return f"x = {written}" if path.endswith(".toml") else f"x: {written}"


def candidates(text: str, keys: Keys) -> Iterator[re.Match[str]]:
    found = re.finditer(rf"(?<![\w.-])[\"']?{re.escape(keys[-1])}[\"']?\s*[:=]\s*{SCALAR}", text)
    return islice(found, MOST_PLACES)


def mark_value(path: str, text: str, keys: Keys, match: re.Match[str]) -> str | None:
    """The text with a mark in place of a value, where that is the value of these keys."""
    new = text[: match.start("value")] + '"traindx"' + text[match.end("value") :]
    want = parse(path, text)
    set_value(want, keys, "traindx")
    return new if parse(path, new) == want else None


def set_value(document: Any, keys: Keys, value: Any) -> None:
    for key in keys[:-1]:
        document = document[key]
    document[keys[-1]] = copy.copy(value)
