"""The status line of `traindx run`: how far the script is, how it goes, and how long it still takes.

A diagnosis of a long run is made every minute or so. What changes faster is read from the end of the record, and how
much is planned from the script's own words: "Epoch 3/10".
"""

import io
import re
from pathlib import Path
from typing import Any

from traindx.capture.launch.stages import PRINTED, last_output
from traindx.capture.store.recorder import FLIGHT
from traindx.features.shared import Features
from traindx.live.follow import Follower
from traindx.readers.formats.store import STREAM
from traindx.reports.labels import duration, name, number, step

COUNTER = re.compile(
    rb"\b(epoch|step|iteration|iter)s?\W{0,3}(\d{1,9})\s{0,2}(?:/|of)\s{0,2}(\d{1,9})\b", re.I
)


class Status:
    """Of the run that is recorded in `folder`; `steps`: at how many it ends, where that was asked for."""

    def __init__(self, folder: Path, steps: int | None) -> None:
        self.folder, self.steps = folder, steps
        self.tail, self.counter = Tail(folder), Counter()

    def text(self, follower: Follower, width: int) -> str:
        """The line now, if possible shorter than `width`; "" while no step has been recorded."""
        tail, counter = self.tail, self.counter
        tail.read()
        if not tail.time:
            return ""
        counter.read(b"\n".join(last_output(self.folder, file) for file in PRINTED), tail.step)
        run, diagnosis = next(((one.runs[-1], one.diagnoses[-1]) for one in follower.followed.values()
                               if one.diagnoses), (None, None))  # fmt: skip
        planned = self.steps or (run and run.setup.number("planned_steps"))
        place = f"step {step(tail.step)}" + (f" of {step(planned)}" if planned else "")
        objective = (Features(run).objective_name if run else "") or "train/loss"
        loss = name(objective.removeprefix("train/"), 20) + f" {number(tail.values.get(objective))}"
        seconds = tail.time - tail.first[1]
        pace = (tail.step - tail.first[0]) / seconds if seconds > 0 else 0.0
        end = planned or counter.end()
        left = f"{duration((end - tail.step) / pace / 60)} left" if end and end > tail.step and pace else ""
        speed = f"{number(float(f'{pace:.2g}'))} steps/s" if pace else ""
        health = diagnosis.health if diagnosis else "recording"
        parts = [counter.words, place, health, loss if objective in tail.values else "", speed, left]
        for spare in (speed, place if counter.words else ""):  # what a narrow terminal lacks first
            if len(line_of(parts)) >= width:
                parts.remove(spare)
        return line_of(parts)


def line_of(parts: list[str]) -> str:
    return "traindx: " + ", ".join(filter(None, parts))


class Counter:
    """What the script prints of its progress, and the steps that it had made by then. `total`: 0 where unknown."""

    def __init__(self) -> None:
        self.word, self.count, self.total = "", 0, 0
        self.first, self.at, self.falls = (0, 0.0), 0.0, False

    @property
    def words(self) -> str:
        return f"{self.word} {self.count}/{self.total}" if self.total else ""

    def read(self, printed: bytes, steps: float) -> None:
        found = COUNTER.findall(printed)
        found = [one for one in found if one[0].lower() == b"epoch"] or found
        if not found or self.falls:
            return
        word, count, total = found[-1][0].decode().lower(), int(found[-1][1]), int(found[-1][2])
        if count > total or ((word, total) == (self.word, self.total) and count == self.count):
            return
        if (word, total) != (self.word, self.total):
            self.first = count, steps
        elif count < self.count:  # counts within something else
            self.falls, self.total = True, 0
            return
        self.word, self.count, self.total, self.at = word, count, total, steps

    def end(self) -> float | None:
        """The step at which the script will be done, if each count takes as many steps as those before; None where that is
        unknown."""
        counts = self.count - self.first[0]
        if not self.total or not counts:
            return None
        each = (self.at - self.first[1]) / counts
        begins = self.first[1] < each / 2  # what is counted begins when it is printed
        return self.at + (self.total - self.count + begins - (self.first[0] == 0)) * each


def printed_progress(printed: bytes) -> str:
    """How far a script was by what it printed last: "epoch 27/60"; "" where it does not say."""
    counter = Counter()
    counter.read(printed, 0.0)
    return counter.words


class Tail:
    """The end of a record that is being written. Only what was appended is read. Times in seconds since 1970, 0 before the
    first step."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.file, self.offset = folder, folder, 0
        self.head = b""  # the schema and the names, without which no batch can be read
        self.first = 0.0, 0.0  # step and time
        self.step = self.time = 0.0
        self.values: dict[str, float] = {}

    def read(self) -> None:
        """Take in the whole batches that were appended to the newest stream."""
        streams = [(path, STREAM.fullmatch(path.name)) for path in self.folder.glob("**/steps-0-*.arrows")]
        files = [path for path, found in streams if found and int(found[3] or 0) < FLIGHT]
        newest = max(files, key=lambda path: path.stat().st_mtime_ns, default=self.file)
        if newest != self.file:
            self.file, self.offset, self.head = newest, 0, b""
        if self.file != self.folder:
            with open(self.file, "rb") as stream:
                stream.seek(self.offset)
                self.take(stream.read())

    def take(self, data: bytes) -> None:
        import pyarrow as pa

        source, at, batches = pa.BufferReader(data), 0, b""
        while at < len(data):
            try:
                message = pa.ipc.read_message(source)
            except (EOFError, OSError, pa.ArrowInvalid):  # not whole yet, or the end mark
                break
            piece, at = data[at : source.tell()], source.tell()
            if message.type == "record batch":
                batches += piece
            else:
                self.head += piece
        self.offset += at
        if batches:
            for batch in pa.ipc.open_stream(io.BytesIO(self.head + batches)):
                self.note(batch)

    def note(self, batch: Any) -> None:
        last, time = float(batch["step"][-1].as_py()), batch["time"][-1].as_py()
        if not self.time or last < self.step:  # the first one, or another training in the same script
            self.first = float(batch["step"][0].as_py()), batch["time"][0].as_py()
        self.step, self.time = last, time
        measured = zip(batch["signal"].to_pylist(), batch["values"].to_pylist(), strict=True)
        self.values |= {signal: values[0] for signal, values in measured if len(values) == 1}
