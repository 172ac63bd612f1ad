"""Histories that a JSON document holds in another shape than a dict of lists or a list of records."""

import re
from typing import Any

from traindx.readers.json.lines import flatten_record
from traindx.readers.tables.columns import number
from traindx.readers.tables.long import pivot_rows

LEAST = 3  # records that are keyed by a number
KEYED = re.compile(r"(?P<word>[^\W\d_]*)[\s_:-]*(?P<count>\d+)")  # `epoch_12`, `12`
COUNTED = frozenset({"epoch", "step", "iteration", "iter", "round", "episode"})
LABELS = ("name", "metric", "tag", "key", "metric_name")
VALUES = ("value", "val", "metric_value")


def reshape_document(value: Any) -> Any:
    """A document as a dict of lists or a list of records, where it is one in another shape; else as it is: what
    pandas writes (columns of {row: value}, or names and rows apart), records keyed by the number of their
    epoch, and records that each hold one named number."""
    if isinstance(value, list):
        return of_named_numbers(value) or value
    if not isinstance(value, dict):
        return value
    names, rows = value.get("columns"), value.get("data")
    if isinstance(names, list) and isinstance(rows, list) and all(isinstance(row, list) for row in rows):
        return [dict(zip(map(str, names), row, strict=False)) for row in rows]
    inner = [item for item in value.values() if isinstance(item, dict)]
    if not inner or len(inner) < len(value):
        return value
    return keyed_records(value) or by_column(value) or value


def keyed_records(value: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """The records of a dict whose keys count up, with what they count; none where they do not."""
    found = [KEYED.fullmatch(str(key).strip().lower()) for key in value]
    counts = [int(match["count"]) for match in found if match and len(match["count"]) < 16]
    words = {match["word"] for match in found if match}
    if len(counts) < max(LEAST, len(value)) or len(words) > 1 or sorted({*counts}) != counts:
        return []
    word = words.pop()
    axis = [{word: count} if word in COUNTED else {} for count in counts]
    return [
        {**start, **dict(flatten_record(record))} for start, record in zip(axis, value.values(), strict=True)
    ]


def of_models(value: Any) -> str:
    """The first key of a document of results, "" for any other: each key names something (a model, a data set)
    and holds single numbers under names, some of which come again."""
    if not isinstance(value, dict) or len(value) < LEAST:
        return ""
    held = [dict(flatten_record(item)) for item in value.values() if isinstance(item, dict)]
    numbers = [{name for name, item in record.items() if type(item) in (int, float)} for record in held]
    lists = any(isinstance(item, list) for record in held for item in record.values())
    same = bool(numbers) and bool(set.intersection(*numbers))
    return next(iter(value)) if same and not lists and len(held) == len(value) else ""


def by_column(value: dict[str, dict[str, Any]]) -> dict[str, list[Any]]:
    """The lists of a dict of columns, each a dict of rows by their number; none where one is something else."""
    rows = {key for column in value.values() for key in column}
    if len(rows) < LEAST or not all(str(key).isdecimal() and len(str(key)) < 16 for key in rows):
        return {}
    order = sorted(rows, key=int)
    return {name: [column.get(key) for key in order] for name, column in value.items()}


def of_named_numbers(records: list[Any]) -> dict[str, list[Any]]:
    """The lists of records of one named number each (`{"step": 1, "name": "loss", "value": 2.3}`) and their
    counter; none for any other records."""
    first = records[0] if records and isinstance(records[0], dict) else {}
    label = next((k for k in LABELS if isinstance(first.get(k), str)), None)
    held = next((k for k in VALUES if number(first.get(k)) is not None), None)
    axis = next((k for k in first if k.lower().strip() in COUNTED and number(first[k]) is not None), None)
    if label is None or held is None or axis is None or len({*first} - {label, held, axis}) > 1:
        return {}
    rows = [(r.get(axis), r.get(label), r.get(held)) for r in records if isinstance(r, dict)]
    table = pivot_rows([(number(a), str(n), number(v)) for a, n, v in rows])
    return {} if table is None else {axis: table.pop(""), **table}
