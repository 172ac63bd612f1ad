"""Sacred's FileStorageObserver: metrics.json, with run.json and config.json next to it."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from traindx.readers.api import Event, Floats, NotALog, RawColumn, RawLog, Source, np, source_of
from traindx.readers.json.document import document, peek_document
from traindx.readers.setup_facts import facts_from_files, small_text
from traindx.readers.tables.columns import number

NAME = "sacred"
MOST = 0.98
BEGINS = (b"{",)
HOLDS = (b'"steps"',)
PARTS = ("steps", "timestamps", "values")
ENDED = {"FAILED": "crash", "INTERRUPTED": "stopped", "TIMEOUT": "stopped"}


def sniff(source: Source) -> float:
    value = peek_document(source.head)
    if not isinstance(value, dict) or not value:
        return 0.0
    first = next(iter(value.values()))
    return 0.98 if isinstance(first, dict) and set(first) <= set(PARTS) and "steps" in first else 0.0


def read(source: Source) -> list[RawLog]:
    """One log; every metric has its own steps and times."""
    events: list[Event] = []
    value = document(source, events)
    metrics = {k: v for k, v in value.items() if isinstance(v, dict)} if isinstance(value, dict) else {}
    log = RawLog(source.name, NAME, events=events, axis_kind="step")
    cut = {name: c for name, part in metrics.items() if (c := column_of(part)) is not None}
    moments = np.unique(
        np.concatenate([c.times for c in cut.values() if c.times is not None] or [np.empty(0)])
    )
    for name, c in cut.items():
        assert c.times is not None
        log.columns[name] = RawColumn(
            c.values, np.searchsorted(moments, c.times).astype(np.int64), c.steps, c.times
        )
    if not log.columns:
        raise NotALog(source.name, "no metric with steps and values in it")
    log.facts = facts_from_files(source.path, "config.json")
    read_ending(log, source.path)
    return [log]


def column_of(part: dict[str, Any]) -> RawColumn | None:
    """Steps, values and times of one metric, as far as all three go; None when there are none."""
    steps, stamps, values = (part.get(name) for name in PARTS)
    if not isinstance(steps, list) or not isinstance(values, list):
        return None
    stamps = stamps if isinstance(stamps, list) else []
    rows = []
    for i, (step, value) in enumerate(zip(steps, values, strict=False)):
        plain = value.get("value") if isinstance(value, dict) else value  # jsonpickle of a numpy scalar
        x, y = number(step), number(plain)
        if x is not None and y is not None:
            rows.append((x, y, seconds(stamps[i]) if i < len(stamps) else float(i)))
    if not rows:
        return None
    table: Floats = np.array(rows)
    times = np.maximum.accumulate(table[:, 2])
    return RawColumn(table[:, 1], np.arange(len(table)), table[:, 0], times)


def seconds(stamp: object) -> float:
    """Seconds since the epoch of an ISO time in UTC; 0 when it is none."""
    try:
        moment = datetime.fromisoformat(stamp) if isinstance(stamp, str) else None
    except ValueError:
        moment = None
    return 0.0 if moment is None else moment.replace(tzinfo=UTC).timestamp()


def read_ending(log: RawLog, path: Path | None) -> None:
    """How the run ended, from run.json."""
    try:
        run = msgspec.json.decode(small_text(path.parent / "run.json") or b"{}") if path else {}
    except (ValueError, RecursionError):  # UnicodeDecodeError among them
        run = {}
    status = run.get("status") if isinstance(run, dict) else None
    log.complete = True if status == "COMPLETED" else None
    if status == "FAILED":
        log.events.append(Event("crash", "Sacred recorded that the run failed"))
    elif isinstance(status, str) and status in ENDED:
        log.events.append(Event("stopped", f"Sacred recorded the run as {status.lower()}"))


def sniff_folder(path: Path) -> float:
    """The folder of one run."""
    return 0.95 if (path / "metrics.json").is_file() and (path / "run.json").is_file() else 0.0


def read_folder(path: Path) -> list[RawLog]:
    return read(source_of(path / "metrics.json"))
