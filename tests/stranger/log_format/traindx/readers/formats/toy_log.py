"""The log of a tool that writes `toy_step` and losses, separated by semicolons."""

from __future__ import annotations

from traindx.readers.raw import RawLog, Source
from traindx.readers.tables.parsing import read_table

NAME = "toy-log"
FILES = ("*.toylog",)


def sniff(source: Source) -> float:
    return 1.0 if source.head.startswith(b"toy_step;") else 0.0


def read(source: Source) -> list[RawLog]:
    return [read_table(source).log(source, NAME, framework="toy", axis="toy_step", axis_kind="step")]
