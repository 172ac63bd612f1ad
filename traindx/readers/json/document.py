"""JSON values: documents with bare NaN, damage or a cut tail, and what a file's first bytes say."""

import json
import re
from collections import deque
from functools import lru_cache
from typing import Any

import msgspec

from traindx.errors import NotALog, ReadError
from traindx.readers.files.text_blocks import as_plain_text, head_lines, is_text, refuse_non_text, whole_text
from traindx.readers.raw import HEAD_BYTES, Source
from traindx.vocabulary import Event

Record = dict[str, Any]
# ValueError: also a number of 5000 digits; UnicodeDecodeError is one.
JSON_ERRORS = (ValueError, RecursionError, msgspec.DecodeError)
MAX_BRACKETS = 500
MOST_VALUES = (
    6_000_000  # of any document, some 40 bytes of memory each; of a larger one, one for 4 bytes stored
)
TOKEN = r'"(?:[^"\\]|\\.)*"|[{}\[\],]'
FLAT_RECORD = r"\{[^{}]*\}"


def decode(text: bytes) -> Any:
    """One JSON value; bare NaN and Infinity are taken, as most Python writers emit them.

    Errors: one of `JSON_ERRORS`.
    """
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return json.loads(text.decode("utf-8", "replace"))


@lru_cache(maxsize=8)
def peek_records(head: bytes) -> tuple[Record, ...]:
    """The records in the first lines of JSON Lines; none where not two lines in three are records."""
    if not is_text(head) or as_plain_text(head[:4096]).lstrip()[:1] != b"{":
        return ()
    lines = head_lines(head, 40)
    records = []
    for line in lines:
        try:
            value = decode(line)
        except JSON_ERRORS:
            continue
        if isinstance(value, dict):
            records.append(value)
    return tuple(records) if 3 * len(records) >= 2 * len(lines) else ()


@lru_cache(maxsize=8)
def peek_document(head: bytes) -> Any:
    """The start of a JSON document as far as the first bytes hold it (cut short where they end);
    None where the bytes are no JSON document (JSON Lines of several records are none)."""
    if not is_text(head) or as_plain_text(head[:4096]).lstrip()[:1] not in (b"{", b"["):
        return None
    if len(peek_records(head)) > 1:
        return None
    text = as_plain_text(head)
    try:
        return decode(text)
    except JSON_ERRORS as error:
        cut = recover_document(text.decode("utf-8", "replace"), error)
        return cut[1] if cut and (len(head) >= HEAD_BYTES or cut[0] > 1) else None


def document(source: Source, events: list[Event]) -> Any:
    """The JSON document in `source`; of a damaged one the part before the damage, with a warning.

    Errors: NotALog for what is no JSON, or has nothing whole in it.
    """
    refuse_non_text(source)
    text = whole_text(source, events)
    refuse_bomb(source, text)
    try:
        return decode(text)
    except JSON_ERRORS as error:
        cut = recover_document(text.decode("utf-8", "replace"), error)
        if cut is None:
            raise NotALog(source.name, f"no JSON document: {str(error)[:200]}") from error
        events.append(
            Event(
                "parse-warning",
                "the JSON is damaged or cut; what comes before was kept",
                place=f"byte {cut[0]}",
            )
        )
        return cut[1]


def refuse_bomb(source: Source, text: bytes) -> None:
    """Refuse a document that would take far more memory than its bytes: a list counts as 3 values, an object
    as 6.

    Errors: ReadError with how many values are believed."""
    stored = (
        len(source.data) if source.data is not None else source.path.stat().st_size if source.path else 0
    )
    most = max(MOST_VALUES, stored // 4)
    if text.count(b",") + 2 * text.count(b"[") + 5 * text.count(b"{") > most:
        why = f"its JSON holds more than {most / 1e6:.0f} million values, far more than a log of its size"
        raise ReadError(source.name, why, hint="decompress it first, or write JSON Lines", final=True)


def recover_document(text: str, error: Exception) -> tuple[int, Any] | None:
    """(characters kept, value) of the longest start of a broken document that is JSON once its
    open brackets are closed. `error` is what decoding raised and says where it broke."""
    text = text[: getattr(error, "pos", 0)]
    closing = ""  # what closes the open brackets, the innermost first
    cuts: deque[tuple[int, str]] = deque(maxlen=4096)
    for token in re.finditer(TOKEN, text):
        mark = token[0]
        if mark in ("{", "["):
            closing = ("}" if mark == "{" else "]") + closing
            if len(closing) > MAX_BRACKETS:
                break
        elif mark in ("}", "]"):
            if closing[:1] != mark:
                break
            closing = closing[1:]
            cuts.append((token.end(), closing))
        elif mark == "," and closing:
            cuts.append((token.start(), closing))
    step, at = 1, len(cuts) - 1
    while at >= 0:  # steps that double: few trials even when the last cuts are in a broken string
        end, tail = cuts[at]
        try:
            return end, json.loads(text[:end] + tail)
        except (ValueError, RecursionError):
            at, step = at - step, step * 2
    return None


def flat_records(text: str) -> list[Record]:
    """All objects without inner objects that can be decoded, in order: what a damaged list of
    records still holds on both sides of the damage."""
    found = []
    for match in re.finditer(FLAT_RECORD, text):
        try:
            value = decode(match[0].encode())
        except JSON_ERRORS:
            continue
        if isinstance(value, dict):
            found.append(value)
    return found
