"""Setup facts that trainers leave in event files: texts of arguments, hyperparameters.

Hugging Face writes `args/text_summary` (JSON), CleanRL `hyperparameters/text_summary` (a Markdown
table), Lightning and `add_hparams` an event of the hparams plugin
(tensorboard/plugins/hparams/plugin_data.proto).
"""

from __future__ import annotations

import json
import struct

from traindx.readers.files.protobuf import FIXED64, LENGTH, VARINT, Malformed, fields, varint
from traindx.readers.setup_facts import facts_from
from traindx.readers.tfevents.files import Decoded, Text

SETTINGS = ("arg", "config", "param", "setting", "option", "flag", "cfg", "opt")


def facts_of(decoded: Decoded) -> dict[str, object]:
    """Facts under `Setup`'s field names; unknown ones under their own."""
    facts: dict[str, object] = {}
    for text in decoded.texts:
        if any(word in text.tag.lower() for word in SETTINGS):
            facts |= facts_from(_settings(text))
    for body in decoded.hparams:
        try:
            facts |= facts_from(_hparams(body))
        except Malformed:
            continue  # a plugin's content that no schema fits says nothing about the setup
    return facts


def _settings(text: Text) -> dict[object, object]:
    body = text.body.decode("utf-8", "replace").strip()
    if body.startswith("{"):
        try:
            found = json.loads(body)
        except (ValueError, RecursionError):
            return {}
        return found if isinstance(found, dict) else {}
    cells = [
        [c.strip() for c in line.strip().strip("|").split("|")]
        for line in body.splitlines()
        if line.count("|") > 1
    ]
    return {row[0]: row[1] for row in cells if len(row) == 2 and row[0].strip("-: ")}


def _hparams(body: bytes) -> dict[object, object]:
    """HParamsPluginData.session_start_info (3).hparams (1): a map of protobuf Values."""
    out: dict[object, object] = {}
    for number, kind, start, stop in fields(body):
        if number == 3 and kind == LENGTH:
            for inner, inner_kind, low, high in fields(body, start, stop):
                if inner == 1 and inner_kind == LENGTH:
                    key, value = _entry(body, low, high)
                    out |= {} if value is None else {key: value}
    return out


def _entry(body: bytes, at: int, end: int) -> tuple[str, object]:
    """One entry: key 1, value 2 {number 2, string 3, bool 4}."""
    key: str = ""
    value: object = None
    for number, kind, start, stop in fields(body, at, end):
        if number == 1 and kind == LENGTH:
            key = body[start:stop].decode("utf-8", "replace")
        elif number == 2 and kind == LENGTH:
            for inner, inner_kind, low, high in fields(body, start, stop):
                if inner == 2 and inner_kind == FIXED64:
                    value = struct.unpack("<d", body[low:high])[0]
                elif inner == 3 and inner_kind == LENGTH:
                    value = body[low:high].decode("utf-8", "replace")
                elif inner == 4 and inner_kind == VARINT:
                    value = bool(varint(body, low, high)[0])
    return key, value
