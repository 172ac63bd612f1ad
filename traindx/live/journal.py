"""The events of one watch, on disk: what `--since` is answered from, and what a restart goes on from.

An event is written and flushed to the disk before it is printed. After `kill -9` between the two it is in the journal
but was not printed; whoever gives the last cursor back receives it.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from traindx.errors import ConfigError
from traindx.live.episodes import State
from traindx.vocabulary.live import LiveEvent


class Line(msgspec.Struct):
    """One event with the state of its run after it."""

    event: LiveEvent
    key: str
    state: State


def home(paths: Sequence[str]) -> Path:
    """The folder of the journal of these paths, below the user's folder for program state."""
    base = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local/state")
    names = "\n".join(sorted(os.path.abspath(path) for path in paths))
    return base / "traindx" / "watch" / hashlib.sha256(names.encode()).hexdigest()[:16]


class Journal:
    """Appends events to `folder/events.jsonl`. Raises OSError where it cannot be written."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.file = folder / "events.jsonl"
        self.lines: list[bytes] = []
        self.states: dict[str, State] = {}
        self.events: list[LiveEvent] = []
        for raw in self.stored():
            self.events.append(raw.event)
            self.states[raw.key] = raw.state
        self.name = folder.name[:8]
        self.stream = self.file.open("ab")
        if self.stream.tell() and not self.file.read_bytes().endswith(b"\n"):
            self.stream.write(b"\n")  # what was cut by a crash stays a line of its own, and is skipped

    def stored(self) -> Iterator[Line]:
        """The whole lines of the file."""
        if not self.file.exists():
            return
        for raw in self.file.read_bytes().split(b"\n"):
            try:
                yield msgspec.json.decode(raw, type=Line)
            except (msgspec.DecodeError, UnicodeDecodeError):
                continue

    def add(self, event: LiveEvent, key: str, state: State) -> LiveEvent:
        """Keep an event and return it with its cursor."""
        numbered = msgspec.structs.replace(event, cursor=f"{self.name}:{len(self.events) + 1}")
        self.stream.write(msgspec.json.encode(Line(numbered, key, state)) + b"\n")
        self.stream.flush()
        os.fsync(self.stream.fileno())
        self.events.append(numbered)
        self.states[key] = state
        return numbered

    def since(self, cursor: str) -> list[LiveEvent]:
        """The events after a cursor. Raises ConfigError for one that this journal did not give."""
        name, _, number = cursor.partition(":")
        if name != self.name or not number.isdecimal() or int(number) > len(self.events):
            raise ConfigError(f"--since {cursor!r}: not a cursor of these paths; cursors come from `traindx watch --json`")
        return self.events[int(number) :]

    def close(self) -> None:
        self.stream.close()
