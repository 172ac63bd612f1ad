"""The binary record of a Weights & Biases run: `run-<id>.wandb`.

A LevelDB-style log (`_wandb_log.py`) of protobuf records (wandb/proto/wandb_internal.proto), read
by hand. History rows become rows, whose keys become columns; of the system statistics the four
that rules read. Configuration becomes facts; the exit code says whether the run ended well.
The step axis is `_step`, W&B's own count of rows, unless the run declared another with
`define_metric("*", step_metric=...)`, as the Hugging Face and Lightning integrations do.
"""

import json
import struct
from array import array
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from traindx.readers.api import Event, Floats, NotALog, RawColumn, RawLog, ReadError, Source, np, source_of
from traindx.readers.files.protobuf import FIXED64, LENGTH, VARINT, Malformed, as_signed, fields, varint
from traindx.readers.files.wandb_log import MAGIC, LogReader
from traindx.readers.setup_facts import facts_from

NAME = "wandb"
FILES = ("*.wandb",)
BEGINS = (MAGIC,)
HISTORY, SUMMARY, CONFIG, STATS, METRIC, OUTPUT, RUN, EXIT = 2, 3, 5, 7, 12, 13, 17, 18
MOST_NAMES = 20_000
REPORTED = 20
CLOCKS = ("_timestamp", "_runtime", "_step")
# System statistics that rules read: canonical signal and unit.
SYSTEM = {
    "gpu.0.gpu": ("util/device", "%"),
    "gpu.0.memoryAllocatedBytes": ("mem/device", "b"),
    "proc.memory.rssMB": ("mem/host", "MiB"),
    "cpu": ("util/cpu", "%"),
}
WORDS = {"NaN": np.nan, "Infinity": np.inf, "-Infinity": -np.inf}
INTERRUPTED = 255  # exit code that W&B writes after Ctrl-C


def sniff(source: Source) -> float:
    return 1.0 if source.head.startswith(BEGINS) else 0.0


def read(source: Source) -> list[RawLog]:
    """The history of one run. Raises ReadError when no row of it can be saved."""
    run = _Run()
    try:
        with source.open() as stream:
            log = LogReader(stream)
            for at, record in log:
                run.record(at, record)
    except OSError as error:
        raise ReadError(source.name, f"cannot be read: {error.strerror or error}") from error
    return [run.log(source.name, log)]


def sniff_folder(path: Path) -> float:
    """A run's folder: the console log and summary add nothing to the record."""
    return 0.9 if any(file.is_file() for file in path.glob("*.wandb")) else 0.0


def read_folder(path: Path) -> list[RawLog]:
    """The runs recorded in a folder (one, as W&B lays them out)."""
    logs, failure = [], None
    for file in sorted(f for f in path.glob("*.wandb") if f.is_file()):
        try:
            logs += read(source_of(file))
        except ReadError as error:
            failure = failure or error
    if not logs:
        raise failure or NotALog(str(path), "holds no W&B run")
    return logs


class _Run:
    """What the records read so far say."""

    def __init__(self) -> None:
        self.rows = 0
        self.cells: dict[str, tuple[array[float], array[int]]] = {}
        self.config: dict[object, object] = {}
        self.axis: str | None = None
        self.exit: int | None = None
        self.malformed: list[int] = []
        self.unnamed = 0
        self.lines: deque[str] = deque(maxlen=200)

    def record(self, at: int, buffer: bytes) -> None:
        """Take in one protobuf Record; one that is malformed is remembered by its place."""
        try:
            for number, kind, start, stop in fields(buffer):
                if kind == LENGTH:
                    self._content(number, buffer, start, stop)
        except Malformed:
            self.malformed.append(at)

    def _content(self, number: int, buffer: bytes, start: int, stop: int) -> None:
        if number == HISTORY:
            self._history(buffer, start, stop)
        elif number == STATS:
            self._stats(buffer, start, stop)
        elif number == CONFIG:
            self._update(buffer, start, stop)
        elif number == RUN:
            for inner, kind, low, high in fields(buffer, start, stop):
                if inner == 4 and kind == LENGTH:
                    self._update(buffer, low, high)
        elif number == METRIC:
            self._metric(buffer, start, stop)
        elif number == EXIT:
            codes = [
                varint(buffer, a, b)[0]
                for n, k, a, b in fields(buffer, start, stop)
                if (n, k) == (1, VARINT)
            ]
            self.exit = as_signed(codes[-1]) if codes else 0
        elif number == OUTPUT:
            self.lines += [
                buffer[a:b].decode("utf-8", "replace")
                for n, k, a, b in fields(buffer, start, stop)
                if (n, k) == (3, LENGTH)
            ]

    def _history(self, buffer: bytes, start: int, stop: int) -> None:
        step = None
        for number, kind, low, high in fields(buffer, start, stop):
            if number == 1 and kind == LENGTH:
                name, value = _item(buffer, low, high)
                for key, cell in _numbers(name, value):
                    self._cell(key, cell)
            elif number == 2 and kind == LENGTH:
                counts = [
                    varint(buffer, a, b)[0]
                    for n, k, a, b in fields(buffer, low, high)
                    if (n, k) == (1, VARINT)
                ]
                step = as_signed(counts[-1]) if counts else 0
        known = self.cells.get("_step")
        if step is not None and not (known and len(known[1]) and known[1][-1] == self.rows):
            self._cell("_step", float(step))
        self.rows += 1

    def _stats(self, buffer: bytes, start: int, stop: int) -> None:
        """System statistics are taken between history rows; they belong to the row before."""
        for number, kind, low, high in fields(buffer, start, stop):
            if number == 3 and kind == LENGTH:
                name, value = _item(buffer, low, high)
                if name in SYSTEM and isinstance(value, int | float):
                    self._cell(f"system/{name}", float(value), max(self.rows - 1, 0))

    def _cell(self, name: str, value: float, row: int | None = None) -> None:
        cells = self.cells.get(name)
        if cells is None:
            if len(self.cells) >= MOST_NAMES:
                self.unnamed += 1
                return
            cells = self.cells[name] = (array("d"), array("q"))
        cells[0].append(value)
        cells[1].append(self.rows if row is None else row)

    def _update(self, buffer: bytes, start: int, stop: int) -> None:
        for number, kind, low, high in fields(buffer, start, stop):
            if number == 1 and kind == LENGTH:
                name, value = _item(buffer, low, high)
                if name and name != "_wandb":
                    self.config[name.replace(".", "/")] = value

    def _metric(self, buffer: bytes, start: int, stop: int) -> None:
        """A declared step metric counts if it holds for every name (glob `*`)."""
        texts = {
            n: buffer[a:b].decode("utf-8", "replace")
            for n, k, a, b in fields(buffer, start, stop)
            if k == LENGTH
        }
        if texts.get(2) == "*" and texts.get(4):
            self.axis = texts[4]

    def log(self, source: str, reader: LogReader) -> RawLog:
        """Everything as a RawLog. Raises ReadError when there is no history."""
        columns = {
            name: RawColumn(np.array(v), np.array(r, np.int64)) for name, (v, r) in self.cells.items()
        }
        if not any(name not in CLOCKS and not name.startswith("system/") for name in columns):
            if reader.lost:
                raise ReadError(
                    source,
                    reader.lost[0].why,
                    where=f"byte {reader.lost[0].at}",
                    hint="no history row could be saved",
                )
            raise NotALog(
                source, "is a W&B run without a history row", hint="log at least a loss with wandb.log"
            )
        times = columns.get("_timestamp")
        for name in columns.keys() - set(CLOCKS):
            columns[name].times = _times(columns[name], times)
        log = RawLog(
            source, NAME, columns={n: c for n, c in columns.items() if n not in ("_timestamp", "_runtime")}
        )
        log.axis = self._axis(columns)
        log.axis_kind = "epoch" if log.axis and log.axis.rsplit("/", 1)[-1] == "epoch" else "step"
        if log.axis != "_step":
            log.columns.pop("_step", None)
        log.roles = {f"system/{n}": role for n, (role, _) in SYSTEM.items() if f"system/{n}" in columns}
        log.units = {f"system/{n}": unit for n, (_, unit) in SYSTEM.items() if f"system/{n}" in columns}
        log.facts = facts_from(self.config)
        log.events = [*self._damage(reader), *self._ending()]
        log.complete = True if self.exit == 0 else (None if self.exit is None else False)
        return log

    def _axis(self, columns: Mapping[str, RawColumn]) -> str | None:
        """The declared step metric, or a `global_step` that counts up through nearly all rows."""
        counters = [name for name in columns if name.replace(".", "/").rsplit("/", 1)[-1] == "global_step"]
        for name in (self.axis, *counters):
            counter = columns.get(name) if name else None
            if counter is None or len(counter.rows) <= 0.9 * self.rows:
                continue
            if name == self.axis or (np.diff(counter.values) >= 0).all():
                return name
        return "_step" if "_step" in columns else None

    def _damage(self, reader: LogReader) -> list[Event]:
        places = sorted(
            [*reader.lost, *((at, "the content of a record is malformed") for at in self.malformed)]
        )
        events = [
            Event(
                "parse-warning",
                f"{why}; it is left out",
                place=f"byte {at}" if at >= 0 else "end",
                code="damaged",
            )
            for at, why in places[:REPORTED]
        ]
        if len(places) > REPORTED:
            message = f"{len(places) - REPORTED} more damaged records are left out"
            events.append(
                Event(
                    "parse-warning", message, place=f"byte {places[REPORTED][0]} and later", code="damaged"
                )
            )
        if reader.tail is not None:
            message = "ends inside a record: still being written, or the run was killed; all whole records are kept"
            events.append(Event("note", message, place=f"byte {reader.tail}", code="partial-tail"))
        if self.unnamed:
            message = f"more names than are kept; {self.unnamed} values under further names are left out"
            events.append(Event("parse-warning", message, code="too-many-names"))
        return events

    def _ending(self) -> list[Event]:
        """How the run ended, by its exit code and its last lines on the console."""
        if not self.exit:
            return []
        console = "\n".join(self.lines)
        if "out of memory" in console.lower() or "OutOfMemoryError" in console:
            return [
                Event("out-of-memory", f"ran out of memory (exit code {self.exit})", place="exit record")
            ]
        if self.exit == INTERRUPTED:
            return [Event("stopped", "was interrupted (exit code 255)", place="exit record")]
        return [Event("crash", f"ended with exit code {self.exit}", place="exit record")]


def _times(column: RawColumn, clock: RawColumn | None) -> Floats | None:
    if clock is None or not len(clock.rows):
        return None
    return clock.values[np.clip(np.searchsorted(clock.rows, column.rows, side="right") - 1, 0, None)]


def _item(buffer: bytes, start: int, stop: int) -> tuple[str, object]:
    """Name and value of an item: key 1, nested_key 2 (repeated), typed values 4..8, value_json 16."""
    key, nested, value = "", [], None  # type: tuple[str, list[str], object]
    for number, kind, low, high in fields(buffer, start, stop):
        if kind == LENGTH and number in (1, 2):
            text = buffer[low:high].decode("utf-8", "replace")
            key, nested = (text, nested) if number == 1 else (key, [*nested, text])
        elif kind == LENGTH and number in (8, 16):
            value = _json(buffer[low:high])
        elif kind == LENGTH and number == 7:
            value = buffer[low:high].decode("utf-8", "replace")
        elif kind == VARINT and number == 5:
            value = as_signed(varint(buffer, low, high)[0])
        elif kind == VARINT and number == 4:
            value = bool(varint(buffer, low, high)[0])
        elif kind == FIXED64 and number == 6:
            value = struct.unpack("<d", buffer[low:high])[0]
    return key or ".".join(nested), value


def _json(text: bytes) -> object:
    """A JSON value; numbers, by far the most, without the parser. None for what is no JSON."""
    with suppress(ValueError):
        return float(text)
    with suppress(ValueError, RecursionError):
        return json.loads(text)
    return None


def _numbers(name: str, value: object, depth: int = 0) -> Iterator[tuple[str, float]]:
    """The numbers in a logged value; nested mappings are joined by dots as W&B shows them.
    Media, tables and histograms (mappings with a `_type`), lists, texts and flags are none."""
    if isinstance(value, str):
        if value in WORDS:
            yield name, WORDS[value]
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield name, float(value) if abs(value) < 1e308 or value != value else np.copysign(np.inf, value)
    elif isinstance(value, dict) and "_type" not in value and depth < 4:
        for key, inner in value.items():
            yield from _numbers(f"{name}.{key}", inner, depth + 1)
