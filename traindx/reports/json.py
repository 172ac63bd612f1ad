"""The JSON document of the contract, strict, and its JSON Schema."""

import math
import re
import sys
from typing import Any

import msgspec
import numpy as np

from traindx.vocabulary.diagnosis import SCHEMA, Document
from traindx.vocabulary.live import SCHEMA as EVENT_SCHEMA, LiveEvent

STEP_FIELDS = frozenset(
    {"first_step", "last_step", "onset_step", "step", "at_step", "best_step", "at", "until_step", "steps"}
)  # fmt: skip
COUNT_FIELDS = frozenset(
    {"batch_size", "accumulation", "dataset_size", "parameters", "classes", "planned_steps", "planned_epochs",
     "warmup_steps", "workers", "seed"}
)  # fmt: skip

# Characters that are legal in JSON but act on a terminal or on the order of text: C1 controls,
# bidi marks, line separators, invisible formatting.
ACTING = re.compile("[\x7f-\x9f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]")
NONFINITE = ("NaN", "Infinity", "-Infinity")


def render(document: Document) -> str:
    """The document as indented strict JSON; numbers that are not finite become strings, integral
    steps and counts are printed without a decimal point."""
    return dumps(msgspec.to_builtins(document, enc_hook=plain_number))


def line(value: object) -> str:
    """A struct as one line of strict JSON."""
    return escape_json(
        msgspec.json.encode(strict(msgspec.to_builtins(value, enc_hook=plain_number))).decode()
    )


def escape_json(text: str) -> str:
    """JSON text that is safe to print on a terminal."""
    return ACTING.sub(lambda m: f"\\u{ord(m[0]):04x}", text)


def plain_number(value: object) -> object:
    """A numpy scalar, or a threshold, as the plain number that it is."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, float):
        return float(value)
    raise TypeError(f"{type(value).__name__} cannot stand in a document")


def dumps(built: Any) -> str:
    """Builtins as strict JSON text, safe to print on a terminal."""
    return escape_json(msgspec.json.format(msgspec.json.encode(strict(built)), indent=2).decode()) + "\n"


def strict(value: Any, key: str = "") -> Any:
    """A copy of builtins in which every number and string is valid in strict JSON."""
    if isinstance(value, dict):
        return {encodable(str(k)): strict(v, str(k)) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [strict(v, key) for v in value]
    if isinstance(value, float):
        return strict_float(value, key)
    return encodable(value) if isinstance(value, str) else value


def strict_float(value: float, key: str) -> float | int | str:
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else ("Infinity" if value > 0 else "-Infinity")
    integral = (key in STEP_FIELDS or key in COUNT_FIELDS) and value == int(value) and abs(value) < 2**53
    return int(value) if integral else value


def encodable(text: str) -> str:
    """`text`, with lone surrogates (bytes that were no UTF-8) spelled out."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "backslashreplace").decode()
    return text


def schema() -> dict[str, Any]:
    """JSON Schema (2020-12) of what `render` writes."""
    definitions = definitions_of(Document)
    definitions["RunInfo"]["properties"]["events"]["items"] = {"$ref": "#/$defs/Event"}
    definitions["Event"] = {
        "type": "object",
        "properties": {
            "kind": {"type": "string"},
            "step": {"anyOf": [tolerant({"type": "number"}), {"type": "null"}]},
            "place": {"type": "string"},
            "message": {"type": "string"},
        },
        "required": ["kind", "message", "place", "step"],
    }
    return with_head("Document", SCHEMA, definitions)


def event_schema() -> dict[str, Any]:
    """JSON Schema (2020-12) of a line of `traindx watch --json`."""
    return with_head("LiveEvent", EVENT_SCHEMA, definitions_of(LiveEvent))


def definitions_of(shape: type[msgspec.Struct]) -> dict[str, Any]:
    """The parts of a document's schema; every field is always written."""
    made = msgspec.json.schema(shape, schema_hook=lambda kind: {"description": "any JSON value"})
    definitions: dict[str, Any] = made["$defs"]
    for definition in definitions.values():
        properties = definition.get("properties", {})
        if properties:
            definition["required"] = sorted(properties)
        for field in {"probability", "confidence"} & set(properties):
            share = {"type": "number", "minimum": 0, "maximum": 1}
            properties[field] = (
                {"anyOf": [share, {"type": "null"}]} if "anyOf" in properties[field] else share
            )
    return {name: without_defaults(tolerant(definition)) for name, definition in definitions.items()}


def with_head(root: str, name: str, definitions: dict[str, Any]) -> dict[str, Any]:
    """A whole schema of the document `name`, such as traindx.fix/1."""
    definitions[root]["properties"]["schema"] = {"const": name}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:{name.replace('.', ':').replace('/', ':')}",
        "title": name,
        "$ref": f"#/$defs/{root}",
        "$defs": dict(sorted(definitions.items())),
    }


def tolerant(node: Any) -> Any:
    """A schema in which every unbounded number may also be one of the strings for NaN and infinities."""
    if isinstance(node, list):
        return [tolerant(v) for v in node]
    if not isinstance(node, dict):
        return node
    if node.get("type") == "number" and "minimum" not in node:
        return {"anyOf": [{"type": "number"}, {"enum": list(NONFINITE)}]}
    return {k: tolerant(v) for k, v in node.items()}


def without_defaults(node: Any) -> Any:
    """A schema without `default`: every field is always written."""
    if isinstance(node, list):
        return [without_defaults(v) for v in node]
    if isinstance(node, dict):
        return {
            k: without_defaults(v)
            for k, v in node.items()
            if not (k == "default" and "properties" not in node)
        }
    return node


if (
    __name__ == "__main__"
):  # prints what diagnosis.schema.json must hold, or with an argument event.schema.json
    print(dumps(event_schema() if sys.argv[1:] else schema()), end="")
