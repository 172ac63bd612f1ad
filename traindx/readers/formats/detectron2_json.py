"""detectron2's metrics.json: JSON Lines, always appended to, evaluation and training rows mixed."""

from traindx.readers.api import RawLog, Source
from traindx.readers.assembly.restarts import back_at_start
from traindx.readers.json.document import peek_records
from traindx.readers.json.lines import read_lines

NAME = "detectron2-json"
MOST = 0.95
BEGINS = (b"{",)
HOLDS = (b'"iteration"',)
SIGNS = frozenset({"total_loss", "data_time", "eta_seconds", "lr", "time", "rank_data_time"})


def sniff(source: Source) -> float:
    """Records by `iteration` with the trainer's own names."""
    records = peek_records(source.head)
    named = [r for r in records if "iteration" in r and len(SIGNS & set(r)) >= 2]
    return 0.95 if named and len(named) >= len(records) / 2 else 0.0


def read(source: Source) -> list[RawLog]:
    """One log; the file of a new training in the same folder goes on below the old one."""
    lines = read_lines(source)
    log = RawLog(source.name, NAME, framework="detectron2", columns=lines.columns, events=lines.events)
    log.axis, log.axis_kind = "iteration", "iteration"
    log.units = {
        name: "s" for name in ("time", "data_time", "eta_seconds", "rank_data_time") if name in log.columns
    }
    log.boundaries = back_at_start(log.columns.get("iteration"))  # where a fresh training logs again
    if "iteration" not in log.columns:
        log.axis = None
    return [log]
