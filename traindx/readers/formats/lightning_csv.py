"""Lightning's CSVLogger: a wide, sparse metrics.csv in a version_N folder, hparams.yaml next to it."""

import re

from traindx.features.statistics import median
from traindx.readers.api import Event, Path, RawColumn, RawLog, Source, np, source_of
from traindx.readers.setup_facts import facts_from_files
from traindx.readers.tables.layout import peek_layout
from traindx.readers.tables.parsing import read_table

NAME = "lightning-csv"
MOST = 0.9
HOLDS = (b"epoch", b"step", b",")
TABLE = "metrics.csv"
VERSION = re.compile(r"version_(\d+)")


def sniff(source: Source) -> float:
    """`step` and `epoch` in one comma-separated header; surer with Lightning's name endings."""
    layout = peek_layout(source.head)
    if layout is None or layout.delimiter != "," or not {"step", "epoch"} <= set(layout.names):
        return 0.0
    others = set(layout.names) - {"step", "epoch"}
    endings = any(name.endswith(("_step", "_epoch")) or name.startswith("lr-") for name in others)
    sparse = any(cell == "" for name, column in zip(layout.names, layout.samples, strict=True)
                 if name in others for cell in column)  # fmt: skip
    return 0.9 if endings else 0.8 if sparse else 0.6 if others else 0.0


def read(source: Source) -> list[RawLog]:
    """One log; the x axis is the global `step`, and `x_step`, `x_epoch` stay two series."""
    table = read_table(source)
    facts = facts_from_files(source.path, "hparams.yaml")
    axis = "step" if "step" in table.columns else None
    return [table.log(source, NAME, framework="lightning", axis=axis, facts=facts)]


def sniff_folder(path: Path) -> float:
    """A version folder, or the folder of versions."""
    return 0.9 if any(sniff(source) > 0.5 for source in tables(path)) else 0.0


def tables(path: Path) -> list[Source]:
    """The metrics.csv files of a version folder, or of all versions in order of their number."""
    try:
        versions = [(int(m[1]), child) for child in path.iterdir() if (m := VERSION.fullmatch(child.name))]
    except OSError:
        return []
    found = [child / TABLE for _, child in sorted(versions)] or [path / TABLE]
    return [source_of(file) for file in found if file.is_file() and file.stat().st_size]


def read_folder(path: Path) -> list[RawLog]:
    """One log for each run. A version that goes on where the one before ended is the same run,
    resumed: its rows are added to it."""
    logs: list[RawLog] = []
    for source in tables(path):
        if not source.head.strip():
            continue
        (log,) = read(source)
        if logs and goes_on(logs[-1], log):
            append(logs[-1], log)
        else:
            logs.append(log)
    return logs


def goes_on(before: RawLog, after: RawLog) -> bool:
    """Whether the steps of `after` start behind the first ones and at most a few logging
    intervals after the last ones of `before`."""
    steps = [log.columns["step"].values for log in (before, after) if "step" in log.columns]
    if len(steps) < 2 or any(len(s) < 2 for s in steps):
        return False
    unique = np.unique(steps[0])
    spacing = float(median(np.diff(unique))) if len(unique) > 1 else 1.0
    first = float(steps[1][0])
    return float(steps[0][0]) + 2 * spacing < first <= float(steps[0].max()) + 3 * spacing


def append(into: RawLog, log: RawLog) -> None:
    """Add the rows of `log` below those of `into`."""
    offset = 1 + max(int(column.rows[-1]) for column in into.columns.values())
    for name, new in log.columns.items():
        old = into.columns.get(name)
        rows = new.rows + offset
        into.columns[name] = (
            RawColumn(new.values, rows)
            if old is None
            else RawColumn(np.concatenate([old.values, new.values]), np.concatenate([old.rows, rows]))
        )
    into.event_rows[len(into.events)] = offset
    step = float(log.columns["step"].values[0])
    into.events += [Event("resume", f"goes on in {Path(log.source).parent.name}", step), *log.events]
