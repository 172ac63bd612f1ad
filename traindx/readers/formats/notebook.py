"""Jupyter notebooks: what their cells printed, read as the text log that it is.

Tables that a progress display drew (fastai, the Hugging Face Trainer) are kept as HTML only: their rows become
lines of a table. Other tables are the data that was looked at, and are left out.
"""

import html
import re

from msgspec.structs import replace

from traindx.readers.api import HEAD_BYTES, Any, Event, Iterator, NotALog, RawLog, Source
from traindx.readers.formats import text
from traindx.readers.json.document import document

NAME = "notebook"
FILES = ("*.ipynb",)
MOST = 0.97
BEGINS = (b"{",)
HOLDS = (b'"cell_type"',)
ROW = re.compile(r"<tr.*?>(.*?)</tr>", re.DOTALL | re.IGNORECASE)
CELL = re.compile(r"<t[hd].*?>(.*?)</t[hd]>", re.DOTALL | re.IGNORECASE)
TAG = re.compile(r"<[^>]*>")
PROGRESS = re.compile(r"epoch|step|loss", re.IGNORECASE)
DISPLAY = re.compile(r"<[\w.]+ (?:object|at 0x)|<Figure ")  # what a result says that is not text


def sniff(source: Source) -> float:
    """An object with a list of cells; nbformat 3 keeps them in a worksheet."""
    return MOST if b'"cells"' in source.head or b'"worksheets"' in source.head else 0.0


def read(source: Source) -> list[RawLog]:
    """The logs of all outputs, in the order of the cells. Raises NotALog where no cell printed anything."""
    damage: list[Event] = []
    lines = [line for cell in cells_of(document(source, damage)) for line in printed_text(cell)]
    if not lines:
        raise NotALog(
            source.name, "is a notebook without outputs", hint="run it, and save it with its outputs"
        )
    data = "\n".join(lines).encode("utf-8", "replace")
    logs = text.read(replace(source, path=None, data=data, head=data[:HEAD_BYTES]))
    logs[0].events += damage
    return logs


def cells_of(notebook: Any) -> Iterator[dict[str, Any]]:
    """The cells of a notebook that can have outputs."""
    if not isinstance(notebook, dict):
        return
    for sheet in (notebook, *records_in_list(notebook, "worksheets")):
        yield from (cell for cell in records_in_list(sheet, "cells") if cell.get("cell_type") == "code")


def records_in_list(value: dict[str, Any], name: str) -> list[dict[str, Any]]:
    """The records in a list of a record; none where it is something else."""
    found = value.get(name)
    return [item for item in found if isinstance(item, dict)] if isinstance(found, list) else []


def printed_text(cell: dict[str, Any]) -> Iterator[str]:
    """The text of a cell's outputs: streams, tracebacks, results and tables of progress."""
    for output in records_in_list(cell, "outputs"):
        data = output.get("data")
        data = data if isinstance(data, dict) else output
        table = join_lines(data.get("text/html", data.get("html")))
        if rows := progress_rows(table):
            yield from rows
        elif not table:
            for name in ("text", "text/plain", "traceback"):
                found = join_lines(data.get(name, output.get(name)), "\n" if name == "traceback" else "")
                if found and not DISPLAY.match(found):
                    yield found


def join_lines(value: Any, between: str = "") -> str:
    """A text that a notebook keeps whole or as a list of its lines."""
    return (
        between.join(map(str, value)) if isinstance(value, list) else value if isinstance(value, str) else ""
    )


def progress_rows(table: str) -> list[str]:
    """The rows of an HTML table whose headings name an epoch, a step or a loss."""
    rows = [
        [html.unescape(TAG.sub("", cell)).strip() for cell in CELL.findall(row)]
        for row in ROW.findall(table)
    ]
    rows = [row for row in rows if row]
    if not rows or not any(PROGRESS.search(name) for name in rows[0]):
        return []
    return [f"| {' | '.join(row)} |" for row in rows]
