"""Boxed tables of two columns: `| loss | 0.41 |` between rules, one box a moment (Baselines,
Stable-Baselines3, Spinning Up). A box is one row; a line without a value opens a section."""

from __future__ import annotations

import re
from collections.abc import Callable

from traindx.readers.textlog.grammar import Field
from traindx.readers.textlog.keys import Key, metric_name
from traindx.readers.textlog.records import Records
from traindx.readers.textlog.words import counter_of

LINE = re.compile(
    r"^[|│┃]([^|│┃]*[^\W\d_][^|│┃]*)[|│┃]\s*([-+]?[\d.]+(?:e[-+]?\d+)?|[-+]?nan|[-+]?inf|[^|│┃]*)\s*[|│┃]$",
    re.IGNORECASE,
)


WIDEST = 400  # characters


class Boxes:
    """Reads boxes line by line; a gap in the line numbers ends a box."""

    def __init__(self, records: Records) -> None:
        self.records = records
        self.section = ""
        self.first = self.last = -9
        self.cells: dict[Field, float] = {}

    def claims(self, line: str) -> Callable[[str, int], None] | None:
        if len(line) >= WIDEST or line[:1] not in ("|", "│", "┃") or not LINE.match(line.rstrip()):
            return None
        headings = line[0] == "┃" and not any(c.isdigit() for c in line)  # Rich draws those of a table so
        return None if headings else self.take

    def take(self, line: str, row: int) -> None:
        found = LINE.match(line.rstrip())
        if row != self.last + 1:
            self.flush()
            self.first = row
        self.last = row
        if found is None:
            return
        name, value = found[1].strip(), found[2].strip()
        if not value and name.endswith("/"):
            self.section = name
            return
        indented = found[1].startswith("    ") and self.section
        number = number_in(value)
        if number is not None:
            self.cells.setdefault(field_named(self.section + name if indented else name), number)

    def flush(self) -> None:
        """End the box: its cells become one record."""
        cells = {f: v for f, v in self.cells.items() if f.name}
        if cells:
            self.records.put(tuple(cells), list(cells.values()), self.first)
        self.cells, self.section = {}, ""


def number_in(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def field_named(name: str) -> Field:
    """The field a heading names: a counter or a metric; without a name when it is neither."""
    counter = ("step", 1) if name == "#" else counter_of(name)  # spaCy heads its step column so
    if counter:
        return Field(counter[0], "counter", counter[1])
    return Field(metric_name(Key(name, True, "", ""), ""), "metric")
