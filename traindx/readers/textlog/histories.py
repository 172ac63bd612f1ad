"""A metric's whole history in one line: `train_loss = [0.9, 0.5, 0.3]`, one value an epoch or a step."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import zip_longest

from traindx.readers.textlog.grammar import Field
from traindx.readers.textlog.keys import Key, metric_name
from traindx.readers.textlog.records import Records
from traindx.readers.textlog.words import evidence

NUMBER = r"(?:[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?|[-+]?nan|[-+]?inf)"
LISTED = rf"\s*{NUMBER}(?:\s*,\s*{NUMBER}){{2,}}\s*,?\s*"
LINE = re.compile(
    rf"\s*[\"']?(?P<name>[A-Za-z][\w /.-]{{0,40}}?)[\"']?\s*[:=]?\s*[\[(](?P<values>{LISTED})[\])],?\s*",
    re.IGNORECASE,
)


class Histories:
    """Reads such lines. The values of a list may be those of classes or layers as well: a history is
    believed only where nothing else in the log reports a metric, and where a name that comes again continues
    what it had."""

    def __init__(self, records: Records) -> None:
        self.records = records
        self.values: dict[str, list[float]] = {}
        self.row = 0

    def claims(self, line: str) -> Callable[[str, int], None] | None:
        found = LINE.fullmatch(line) if "," in line and line.rstrip()[-1:] in "])," else None
        return self.take if found and evidence(name_of(found)) == 2 else None

    def take(self, line: str, row: int) -> None:
        found = LINE.fullmatch(line)
        if found is None:
            return
        name, values = name_of(found), [float(word) for word in found["values"].split(",") if word.strip()]
        before = self.values.get(name, [])
        self.values[name] = values if values[: len(before)] == before else []
        self.row = row

    def flush(self) -> None:
        """Put the histories, value by value, into the records."""
        if any(evidence(field.name) == 2 for fields in self.records.kinds for field in fields):
            return
        for i, values in enumerate(zip_longest(*self.values.values())):
            there = [
                (Field(n, "metric"), v) for n, v in zip(self.values, values, strict=True) if v is not None
            ]
            fields = (Field("", "counter", 6), *(f for f, _ in there))
            self.records.put(fields, [float(i), *(v for _, v in there)], self.row + i)


def name_of(found: re.Match[str]) -> str:
    return metric_name(Key(found["name"].strip(), True, "", ""), "")
