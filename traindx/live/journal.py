"""The events of one watch, on disk: what `--since` is answered from, and what a restart goes on from.

An event is written and flushed to the disk before it is printed. After `kill -9` between the two it is in the journal
but was not printed; whoever gives the last cursor back receives it.
"""

import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from traindx.errors import ConfigError
from traindx.live.episodes import State
from traindx.reports.json import plain_number
from traindx.vocabulary.live import LiveEvent

LENGTH = 4  # bytes of the number before each line


class Line(msgspec.Struct):
    """One event with the state of its run after it; without an event, a state at the end of a watch."""

    key: str
    state: State
    event: LiveEvent | None = None


def journal_folder(paths: Sequence[str]) -> Path:
    """The folder of the journal of these paths, below the user's folder for program state."""
    base = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local/state")
    names = "\n".join(sorted(os.path.abspath(path) for path in paths))
    return base / "traindx" / "watch" / hashlib.sha256(names.encode()).hexdigest()[:16]


class Journal:
    """Appends events to `folder/events`, each as its length and its msgpack, which unlike JSON has NaN and infinity.
    Raises OSError where it cannot be written."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        file = folder / "events"
        self.folder = folder
        self.name = folder.name[:8]
        self.states: dict[str, State] = {}
        self.events: list[LiveEvent] = []
        data = file.read_bytes() if file.exists() else b""
        whole = 0
        for line, end in stored_lines(data):
            whole = end
            self.events += [line.event] if line.event is not None else []
            self.states[line.key] = line.state
        self.stream = file.open("ab")
        self.stream.truncate(whole)  # what was cut by a crash was never handed out

    def add(self, event: LiveEvent, key: str, state: State) -> LiveEvent:
        """Keep an event and return it with its cursor."""
        numbered = msgspec.structs.replace(event, cursor=self.cursor(1))
        self.write(Line(key, state, numbered))
        self.events.append(numbered)
        return numbered

    def cursor(self, further: int = 0) -> str:
        """The cursor of the last event, or of one that follows it."""
        return f"{self.name}:{len(self.events) + further}"

    def show(self, event: LiveEvent, key: str, state: State) -> LiveEvent:
        """An event that is printed and not kept: its cursor is that of the last one that is."""
        return msgspec.structs.replace(event, cursor=self.cursor())

    def save(self, states: Mapping[str, State]) -> None:
        """Keep what has not been reported yet, such as a finding that has not lasted long enough."""
        for key, state in states.items():
            self.write(Line(key, state))

    def write(self, line: Line) -> None:
        data = msgspec.msgpack.encode(line, enc_hook=plain_number)
        self.stream.write(len(data).to_bytes(LENGTH, "big") + data)
        self.stream.flush()
        os.fsync(self.stream.fileno())
        self.states[line.key] = line.state

    def since(self, cursor: str) -> list[LiveEvent]:
        """The events after a cursor. Raises ConfigError for one that this journal did not give."""
        name, _, number = cursor.partition(":")
        if name != self.name or not number.isdecimal() or int(number) > len(self.events):
            raise ConfigError(
                f"--since {cursor!r}: not a cursor of these paths; cursors come from `traindx watch --json`"
            )
        return self.events[int(number) :]

    def close(self) -> None:
        self.stream.close()


def stored_lines(data: bytes) -> Iterator[tuple[Line, int]]:
    """The whole lines of a journal, each with the place where it ends."""
    at = 0
    while at + LENGTH <= len(data):
        end = at + LENGTH + int.from_bytes(data[at : at + LENGTH], "big")
        if end > len(data):
            return
        try:
            yield msgspec.msgpack.decode(data[at + LENGTH : end], type=Line), end
        except msgspec.DecodeError:  # of another version, or damaged: what follows cannot be trusted
            return
        at = end
