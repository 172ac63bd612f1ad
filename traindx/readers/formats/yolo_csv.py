"""YOLO's results.csv (v5 and v8 on) and the results.txt of early versions."""

import re

from traindx.readers.api import Event, NotALog, RawLog, Source, column, np
from traindx.readers.files.text_blocks import blocks, head_lines
from traindx.readers.setup_facts import facts_from_files
from traindx.readers.tables.columns import text_number
from traindx.readers.tables.layout import peek_layout
from traindx.readers.tables.parsing import read_table

NAME = "yolo-csv"
MOST = 0.95
HOLDS = (b"/",)  # in the names of columns, or in `epoch/last`
SCORES = ("metrics/map", "metrics/accuracy_top", "metrics/precision")
SETTINGS = ("args.yaml", "opt.yaml", "hyp.yaml")
OLD_LINE = re.compile(rb"\s*\d+/\d+\s+[\d.]+G(?:\s+(?:[-+.\deE]+|-?nan|-?inf)){8,15}\s*")
OLD_NAMES = ("epoch", "gpu_mem", "train/box_loss", "train/obj_loss", "train/cls_loss", "train/loss", "targets",
             "img_size", "metrics/precision", "metrics/recall", "metrics/mAP_0.5", "metrics/mAP_0.5:0.95",
             "val/box_loss", "val/obj_loss", "val/cls_loss")  # fmt: skip


def sniff(source: Source) -> float:
    """A table by epoch with the names of YOLO's losses or metrics, or lines of its old form."""
    layout = peek_layout(source.head)
    if layout is not None and layout.header and "epoch" in layout.lowered:
        losses = any(name.startswith("train/") and name.endswith("_loss") for name in layout.lowered)
        scores = any(name.startswith(SCORES) for name in layout.lowered)
        return (
            0.95
            if scores
            else 0.7
            if losses and any(n.startswith(("x/lr", "lr/pg")) for n in layout.lowered)
            else 0.0
        )
    lines = head_lines(source.head, 3)
    return 0.95 if lines and all(OLD_LINE.fullmatch(line) for line in lines) else 0.0


def read(source: Source) -> list[RawLog]:
    """One log by epoch. Losses are parts; the metrics are of the validation set."""
    lines = head_lines(source.head, 1)
    if lines and OLD_LINE.fullmatch(lines[0]):
        return [read_old(source)]
    log = read_table(source).log(source, NAME, framework="yolo", axis="epoch", axis_kind="epoch")
    log.roles = {
        name: f"val/{name.removeprefix('metrics/')}" for name in log.columns if name.startswith("metrics/")
    }
    log.facts = facts_from_files(source.path, *SETTINGS)
    return [log]


def read_old(source: Source) -> RawLog:
    """results.txt: no header, `epoch/last` first, memory such as 5.05G second, `nan` in words."""
    events: list[Event] = []
    rows: list[list[float]] = []
    last, broken = 0.0, 0
    for block in blocks(source, events):
        for line in block.splitlines():
            if not OLD_LINE.fullmatch(line):
                broken += bool(line.strip())
                continue
            first, memory, *rest = line.decode().split()
            epoch, total = (float(part) for part in first.split("/"))
            numbers = [text_number(cell) for cell in (memory.rstrip("G"), *rest)]
            rows.append([epoch, *(np.nan if number is None else number for number in numbers)])
            last = max(last, total)
    width = min((len(row) for row in rows), default=0)
    if not width:
        raise NotALog(source.name, "no line of results in it")
    if broken:
        events.append(Event("parse-warning", f"{broken} lines are not of this form; left out"))
    table = np.array([row[:width] for row in rows])
    columns = {name: column(table[:, i], np.arange(len(rows))) for i, name in enumerate(OLD_NAMES[:width])}
    log = RawLog(source.name, NAME, "yolo", columns, axis="epoch", axis_kind="epoch", events=events)
    log.units = {"gpu_mem": "GiB"}
    log.roles = {
        name: f"val/{name.removeprefix('metrics/')}" for name in columns if name.startswith("metrics/")
    }
    log.facts = {**facts_from_files(source.path, *SETTINGS), "planned_epochs": last + 1}
    return log
