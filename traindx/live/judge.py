"""The process that judges a recorded run while it goes on, started by `traindx run` at a low priority.

It only reads the record. What it finds goes to the relay, which prints it between the lines of the script, to a file of
events, or into a file that asks the script to end (`--stop-on`). It ignores the signals that are meant for the script, and
ends when the other end of its lifeline is closed: also when that process was killed. Nothing is imported before there is
something to judge.

Started with a JSON object on stdin: `lifeline` (a descriptor: one byte asks for a last look, its end for none), `out` (the
record's folder), `config`, `notes` (the relay's descriptor, or -1), `steps` (at how many the script ends, or null), `status`
(whether there is a status line), `events` (a descriptor, or -1), `stop_on` (a severity, or null),
`stop_file` and `price` (of an hour, or null).
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from traindx.capture.launch.relay import HELD
from traindx.capture.launch.status_line import columns, write_all

if TYPE_CHECKING:
    from traindx.live.episodes import State
    from traindx.live.follow import Follower
    from traindx.vocabulary import Severity
    from traindx.vocabulary.live import LiveEvent

LOW = 10  # a priority that gives way to the script; at 19 the judge gets next to nothing where all cores are busy
STDERR = 2
STATUS = 0.5  # seconds between two states of the status line
SPOKEN = (
    "finding",
    "escalated",
    "resolved",
    "decision",
    "run-failed",
)  # kinds of events that a person is shown


def main(request: dict[str, Any]) -> None:
    for number in (*HELD, signal.SIGTTOU):
        signal.signal(number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    os.nice(LOW)
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as score:
        score.write("1000")  # where memory runs out, this process goes first
    try:
        Judge(request).run()
    except Exception as error:  # noqa: BLE001 - the run goes on, and is diagnosed at its end
        line = f"traindx: the run is not judged while it goes on ({type(error).__name__}: {error})\n"
        write_all(STDERR, line.encode("utf-8", "replace"))


class Judge:
    """Follows one record, as `traindx watch` does."""

    def __init__(self, request: dict[str, Any]) -> None:
        self.request, self.folder = request, Path(request["out"])
        self.events = 0
        self.ended = False
        self.last_event: LiveEvent | None = None  # the end of the run, after which nothing is reported

    def run(self) -> None:
        from traindx.capture.launch.stages import has_records

        while not has_records(self.folder):
            if self.over():
                return
        self.follow()

    def over(self, patience: float = 0.5) -> bool:
        """Wait for the end of the run, for so many seconds."""
        ready, _, _ = select.select([self.request["lifeline"]], [], [], patience)
        return bool(ready)

    def follow(self) -> None:
        import msgspec

        from traindx.config import Config
        from traindx.live.follow import Follower

        config = msgspec.convert(self.request["config"], Config)
        follower = Follower([str(self.folder)], config, self.hand_out, price=self.request["price"])
        if self.request["status"]:
            # A thread: on a busy machine a diagnosis takes a minute at this priority.
            threading.Thread(target=self.show_status, args=(follower,), daemon=True).start()
        while True:
            for _ in follower.poll():
                pass
            if self.over():
                break
        if self.request["events"] >= 0 and os.read(self.request["lifeline"], 1):
            self.ended = True
            for followed in follower.followed.values():
                followed.looks.size = -1  # due, however short ago it was judged
            for _ in follower.poll():
                pass
        if self.last_event is not None:
            self.write(self.last_event)

    def show_status(self, follower: Follower) -> None:
        """Keep the status line as it is now."""
        from traindx.live.status import Status

        status, shown = Status(self.folder, self.request["steps"]), ""
        while True:
            try:
                line = status.text(follower, columns(STDERR))
            except Exception as error:  # noqa: BLE001 - the run is judged nevertheless
                self.tell("S", "")
                self.tell("L", f"traindx: there is no status line ({type(error).__name__}: {error})")
                return
            if line != shown:
                self.tell("S", line)
            shown = line
            time.sleep(STATUS)

    def hand_out(self, event: LiveEvent, _key: str, _state: State) -> LiveEvent:
        if event.kind == "run-ended":  # a record may be complete before its last look
            self.last_event = event
            return event
        event = self.write(event)
        if self.request["notes"] >= 0 and event.kind in SPOKEN and not self.ended:
            from traindx.live.screen import event_line
            from traindx.reports.labels import wrap_text

            for part in wrap_text(event_line(event, "traindx"), columns(STDERR)).splitlines():
                self.tell("L", part)
        if event.finding is not None and event.kind in ("finding", "escalated"):
            self.stop_on(event.finding.severity, event.text)
        return event

    def write(self, event: LiveEvent) -> LiveEvent:
        """Number an event and write it to the file of events, if there is one."""
        import msgspec

        self.events += 1
        event = msgspec.structs.replace(event, cursor=f"{self.folder.name}:{self.events}")
        if self.request["events"] >= 0:
            from traindx.reports.json import line

            write_all(self.request["events"], f"{line(event)}\n".encode())
        return event

    def tell(self, kind: str, line: str) -> None:
        """Hand a line to the relay: see status_line.py."""
        from traindx.reports.labels import visible

        write_all(self.request["notes"], f"{kind}{visible(line)}\n".encode())

    def stop_on(self, severity: Severity, why: str) -> None:
        """Ask the script to end, if it is to end on a finding of this severity; the first reason counts."""
        from traindx.atomic_write import write_atomically
        from traindx.live.episodes import rank

        level, file = self.request["stop_on"], Path(self.request["stop_file"])
        if level and rank(severity) <= rank(level) and not file.exists():
            write_atomically(file, why)
            self.ended = True  # what else is found is in the report, which comes now
