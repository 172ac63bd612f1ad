"""The native store: what traindx itself records of a live run. The layout is in docs/store.md.

One folder per run: `setup.json`, one Arrow stream `steps-<rank>-<pid>.arrows` per process, and
`events-<rank>-<pid>.jsonl`. All are read while they are being written, and after a kill: whole
batches and whole lines count, an unfinished last one is noted.
"""

import json
import re
from pathlib import Path
from typing import get_args

import msgspec

from traindx.readers.api import (
    ENDINGS,
    Event,
    EventKind,
    NotALog,
    RawColumn,
    RawLog,
    RawPanel,
    ReadError,
    Source,
    np,
    reason,
    stack_panels,
)
from traindx.readers.assembly.joined_files import join_files
from traindx.readers.assembly.script_output import later_records
from traindx.readers.compressed import open_plain
from traindx.readers.recorded.stream import MARK, Stream, read_stream
from traindx.readers.setup_facts import flat, small_text

NAME = "traindx"
FILES = ("*.arrows",)
WHOLE = True  # what the script printed and the launcher's diary are in the folder, too
BEGINS = (b"\xff\xff\xff\xff",)  # of an Arrow stream
SCHEMA = "traindx.store/1"
STREAM = re.compile(r"steps-(\d+)-(\d+)(?:\.(\d+))?\.arrows")
EVENTS = re.compile(r"events-(\d+)-(\d+)\.jsonl")
KINDS = frozenset(get_args(EventKind))
MOST_EVENTS = 10_000
PANEL = "\0"  # marks the columns that represent panels while files are joined
SETUP_BYTES = 1 << 24
EVENTS_BYTES = 1 << 26
PART = "grad_norm_part"
MOST_PROCESSES = 1 << 16


def sniff(source: Source) -> float:
    """One stream alone: an Arrow stream whose schema names the store."""
    return 1.0 if source.head.startswith(BEGINS) and MARK in source.head[:8192] else 0.0


def read(source: Source) -> list[RawLog]:
    """One stream without its folder: numbers, but no setup and no events."""
    log = RawLog(source.name, NAME, axis_kind="step")
    stream = _stream(source)
    if not stream.columns and not stream.panels:
        why = stream.damage[0][1] if stream.damage else "is a store in which no step was recorded yet"
        raise NotALog(source.name, why)
    _join_streams(log, [(source.name, stream)])
    return [log]


def sniff_folder(path: Path) -> float:
    if (path / "setup.json").is_file():
        with open(path / "setup.json", "rb") as stream:
            if SCHEMA.split("/")[0].encode() in stream.read(4096):
                return 1.0
    return (
        0.95 if any(STREAM.fullmatch(p.name) and p.is_file() for p in path.glob("steps-*.arrows")) else 0.0
    )


def read_folder(path: Path) -> list[RawLog]:
    """The run of a folder, and those of models that the same script trained after it (`model-2` ...). Raises
    ReadError when no stream of it can be read."""
    log = RawLog(str(path), NAME, axis_kind="step")
    _setup(path / "setup.json", log)
    streams: list[tuple[str, Stream]] = []
    failure: ReadError | None = None
    for file in sorted(p for p in path.iterdir() if STREAM.fullmatch(p.name) and p.is_file()):
        try:
            streams.append((file.name, _stream(Source(str(file), file))))
        except ReadError as error:
            failure = failure or error
            log.events.append(
                Event("parse-warning", f"{file.name} {error.why}", place=file.name, code="damaged")
            )
    if not any(stream.columns or stream.panels for _, stream in streams):
        raise failure or NotALog(str(path), "is a store in which no step was recorded yet")
    _join_streams(log, streams)
    sum_parts(log)
    log.roles = {name: name for name in log.columns}
    ranks = {stream.rank for _, stream in streams if stream.columns or stream.panels}
    if len(ranks) > 1:
        log.facts["ranks_reporting"] = len(ranks)
    _all_events(path, log)
    return [log, *further_records(path)]


def further_records(path: Path) -> list[RawLog]:
    """Of models that have a record of their own."""
    found: list[RawLog] = []
    for folder in later_records(path):
        try:
            found += read_folder(folder)
        except NotALog:
            continue
    return found


def _stream(source: Source) -> Stream:
    try:
        size = source.path.stat().st_size if source.path and source.path.suffix == ".arrows" else None
        with source.open() as stream:
            return read_stream(stream, size)
    except (ValueError, EOFError) as error:
        raise ReadError(
            source.name, str(error), where="byte 0", hint="its process may have died before the first batch"
        ) from error
    except OSError as error:
        raise ReadError(source.name, f"cannot be read: {error.strerror or error}") from error


def _join_streams(log: RawLog, streams: list[tuple[str, Stream]]) -> None:
    """Join the streams by time: the first rank under its own names, others under `rank/<i>/`."""
    first = min((stream.rank for _, stream in streams if stream.columns or stream.panels), default=0)
    files: list[dict[str, RawColumn]] = []
    parts: dict[str, list[RawPanel]] = {}
    for name, stream in streams:
        prefix = f"rank/{stream.rank}/" if stream.rank > first else ""
        columns = {prefix + signal: column for signal, column in stream.columns.items()}
        for signal, panel in stream.panels.items():  # a panel is ordered by a column of its row numbers
            before = sum(len(p.rows) for p in parts.setdefault(prefix + signal, []))
            numbers = before + np.arange(len(panel.rows), dtype=np.float64)
            columns[PANEL + prefix + signal] = RawColumn(
                numbers, panel.rows, panel.steps, stream.panel_times[signal]
            )
            parts[prefix + signal].append(panel)
        files.append(columns)
        log.events += [
            Event("parse-warning", why, place=f"{name}, byte {at}", code="damaged")
            for at, why in stream.damage
        ]
        if stream.tail is not None:
            message = "ends inside a batch: still being written, or killed; all whole batches are kept"
            log.events.append(
                Event("note", message, place=f"{name}, byte {stream.tail}", code="partial-tail")
            )
    for name, column in join_files(files).items():
        if name.startswith(PANEL):
            log.panels[name[len(PANEL) :]] = _panel(parts[name[len(PANEL) :]], column)
        else:
            log.columns[name] = column
    log.roles = {name: name for name in log.columns}  # signals are recorded under canonical names


def _panel(parts: list[RawPanel], order: RawColumn) -> RawPanel:
    """Parts of a panel as one."""
    modules, values = stack_panels([(part.modules, part.values) for part in parts])
    assert order.steps is not None
    return RawPanel(order.steps, modules, values[order.values.astype(np.int64)], order.rows)


def _setup(file: Path, log: RawLog) -> None:
    """Facts, framework and versions from setup.json; without it there are only numbers."""
    try:
        found = json.loads(small_text(file, SETUP_BYTES))
        if not isinstance(found, dict) or found.get("schema") != SCHEMA:
            raise ValueError(f"its schema is not {SCHEMA}")
    except (OSError, ValueError, RecursionError) as error:
        message = f"setup.json cannot be read ({str(error)[:200]}): nothing is known about the setup"
        log.events.append(Event("parse-warning", message, place="setup.json", code="damaged"))
        return
    facts = found.get("facts")
    log.facts |= dict(flat(facts)) if isinstance(facts, dict) else {}
    for part in ("versions", "script"):
        inner = found.get(part)
        log.facts |= {f"{part}/{k}": v for k, v in flat(inner)} if isinstance(inner, dict) else {}
    framework = found.get("framework")
    log.framework = framework if isinstance(framework, str) else None
    if (
        framework == "sklearn" and "dataset_size" in log.facts
    ):  # its networks report once for each pass of `fit`
        log.axis_kind = "epoch"


def _all_events(path: Path, log: RawLog) -> None:
    """The events of all processes in order of time: of several that died, the first is the relevant one. The
    run is complete as its last process says, and not where another rank died."""
    ended: dict[int, bool] = {}
    timed: list[tuple[float, Event]] = []
    for file in sorted(p for p in path.iterdir() if EVENTS.fullmatch(p.name) and p.is_file()):
        rank = int(file.name.split("-")[1])
        found, whole = _events(file, f"rank {rank}: " if rank else "")
        timed += found
        if whole is not None:
            ended[rank] = whole
    log.events += [event for _, event in sorted(timed, key=lambda item: item[0])]
    log.complete = all(ended.values()) if ended else None


def _events(file: Path, whose: str) -> tuple[list[tuple[float, Event]], bool | None]:
    """One event per line with its time, its message after `whose`. The last line may be unfinished. And
    whether the script ended by itself (`ended`); None where it does not say."""
    found: list[tuple[float, Event]] = []
    whole: bool | None = None
    at = 0.0
    try:
        with open_plain(file) as stream:
            text = stream.read(EVENTS_BYTES)
    except (OSError, EOFError) as error:
        why = f"{file.name} cannot be read ({reason(error)}): its events are not known"
        return [(at, Event("parse-warning", why, place=file.name, code="damaged"))], None
    for number, line in enumerate(text.split(b"\n")[:-1][:MOST_EVENTS], 1):
        event, time = _event(line)
        at = max(at, time)
        if event is None:
            place = f"{file.name}, line {number}"
            found.append((at, Event("parse-warning", "an event is malformed", place=place, code="damaged")))
        elif event.code == "ended":
            whole = True
        else:
            found.append((at, msgspec.structs.replace(event, message=whose + event.message)))
            if event.kind in ENDINGS:
                whole = False
    return found, whole


def _event(line: bytes) -> tuple[Event | None, float]:
    """An event (None: malformed), and the seconds since the epoch at which it was (0: unknown)."""
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None, 0.0
    if not isinstance(found, dict) or not isinstance(kind := found.get("kind"), str) or kind not in KINDS:
        return None, 0.0
    at, time = found.get("step"), found.get("time")
    step = float(at) if isinstance(at, int | float) and abs(at) < 2.0**63 else None
    texts = {k: str(found.get(k, ""))[:2000] for k in ("message", "place", "code")}
    seconds = float(time) if isinstance(time, int | float) and abs(time) < 2.0**63 else 0.0
    return Event(found["kind"], texts["message"], step, texts["place"], texts["code"]), seconds


def sum_parts(log: RawLog) -> None:
    """Replace the parts (`grad_norm_part`, `rank/<i>/grad_norm_part`) by `grad_norm`, at the steps that all
    processes recorded: the root of the sum of squares. Parts stay as they are, and an event says so, where
    a process is missing."""
    processes = log.facts.get("grad_norm_processes")
    names = [name for name in log.columns if name.endswith(PART) and not name.startswith("rank/")]
    if not names or not isinstance(processes, int) or not 1 < processes <= MOST_PROCESSES:
        return
    for name in names:
        parts = [log.columns.get(f"rank/{i}/{name}" if i else name) for i in range(processes)]
        there = [part for part in parts if part is not None]
        if len(there) < processes:
            message = f"gradient norms are those of the parts of {len(there)} of {processes} processes"
            log.events.append(Event("note", message, code="norm-of-part"))
            continue
        log.columns[name.removesuffix("_part")] = _sum_parts(there)
        for i in range(processes):
            del log.columns[f"rank/{i}/{name}" if i else name]
        log.facts["grad_norm_is_local"] = False


def _sum_parts(parts: list[RawColumn]) -> RawColumn:
    """One column at the common steps, in the rows of the first part; of a step that was made twice, the
    later value of the other parts counts."""
    first = parts[0]
    assert first.steps is not None
    squares, known = np.square(first.values), np.ones(len(first.values), bool)
    for other in parts[1:]:
        assert other.steps is not None
        values = dict(zip(other.steps.tolist(), other.values.tolist(), strict=True))
        known &= np.array([step in values for step in first.steps.tolist()], bool)
        squares = squares + np.square([values.get(step, np.nan) for step in first.steps.tolist()])
    times = None if first.times is None else first.times[known]
    return RawColumn(np.sqrt(squares[known]), first.rows[known], first.steps[known], times)
