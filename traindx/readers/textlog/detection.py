"""Results of object detectors, which come as prose: COCO's twelve summary lines and
detectron2's `copypaste:` pairs of lines. Both are printed before the step line they belong to."""

from __future__ import annotations

import re
from collections.abc import Callable

from traindx.readers.textlog.grammar import Field
from traindx.readers.textlog.records import Records

PASTE = re.compile(r"copypaste:\s*(.*)$")
COCO = re.compile(
    r"Average (Precision|Recall)\s*\(A[PR]\)\s*@\[\s*IoU=([\d.]+)(?::[\d.]+)?\s*\|\s*area=\s*(\w+)\s*"
    r"\|\s*maxDets=\s*(\d+)\s*\]\s*=\s*(-?[\d.]+|nan)"
)


class Detection:
    def __init__(self, records: Records) -> None:
        self.records = records
        self.names: tuple[Field, ...] = ()
        self.task = ""

    def claims(self, line: str) -> Callable[[str, int], None] | None:
        if "copypaste:" in line:
            return self.paste
        return self.coco if "Average " in line and COCO.search(line) else None

    def paste(self, line: str, row: int) -> None:
        """`Task: bbox`, then a line of names, then a line of numbers."""
        found = PASTE.search(line)
        text = found[1].strip() if found else ""
        if text.startswith("Task:"):
            self.task = text[5:].strip()
            return
        cells = [c.strip() for c in text.split(",")]
        if not all(re.fullmatch(r"-?[\d.]+(?:e[-+]?\d+)?|nan", c) for c in cells):
            self.names = tuple(
                Field(f"val/{self.task}/{c}" if self.task else f"val/{c}", "metric") for c in cells
            )
        elif len(cells) == len(self.names):
            self.records.put(self.names, [float(c) for c in cells], row, late=True)

    def coco(self, line: str, row: int) -> None:
        """`Average Precision (AP) @[ IoU=0.50:0.95 | area= all | maxDets=100 ] = 0.397`."""
        found = COCO.search(line)
        if found is None:
            return
        kind, overlap, area, most, value = found.groups()
        short = "AP" if kind == "Precision" else "AR"
        part = {"0.50": "50" if f"{overlap}:" not in line else "", "0.75": "75"}.get(overlap, "")
        size = "" if area == "all" else area[0]
        count = most if short == "AR" and area == "all" else ""
        self.records.put(
            (Field(f"val/{short}{part}{size}{count}", "metric"),), [float(value)], row, late=True
        )

    def replace_tables(self) -> None:
        """The same results are in a drawn table before the `copypaste:` lines: keep one."""
        pasted = {f.name.split("/")[-1] for fields in self.records.late for f in fields}
        for fields in [k for k in self.records.kinds if k not in self.records.late and pasted]:
            if all(f.name in pasted for f in fields):
                del self.records.kinds[fields]
