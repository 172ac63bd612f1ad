"""The process of a recorded script, as the rooms of the frameworks see it (`launch/attach.Process` is
one)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from traindx.capture.session.backend import Backend
from traindx.capture.session.session import Session
from traindx.capture.session.stream import Stream

STOPPED = (
    3  # exit status of a script that `--stop-on` has ended, so that a shell script does not go on with it
)


class RecordedProcess(Protocol):
    """What a framework's `attach` is given. `request` is what `launch/command.environment` puts together,
    `out` the folder of the record."""

    request: dict[str, Any]
    out: Path
    session: Session | None  # of the framework that trains; None until one does
    ends: list[Callable[[], None]]  # called in this order before the record is closed
    experiments: dict[Stream, Callable[[], None]]  # each removes the interventions of its framework
    last_check: Callable[[Session], None] | None  # called once, after the last step of `--steps`
    watch: Any  # its `wanted` maps a module to what is called when the script has imported it

    def stream(self, backend: Callable[[], Backend]) -> Stream:
        """A stream of events. When something trains, it opens a session with the backend that `backend()`
        returns."""

    def taken_over(self, by: Stream) -> bool:
        """Claim the process for the framework of `by`, because it trains. False where another one is
        recorded."""

    def begin_anew(self) -> None:
        """Close the record: the next session is of another model, and has its own folder."""
