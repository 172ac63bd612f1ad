"""What a framework and the session have to do with each other: what it does for a `Watch`, and how its room sees
the process of a recorded script (`launch/attach.Process` is one)."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from traindx.capture.session.backend import Backend
from traindx.capture.session.session import Session
from traindx.capture.session.stream import Stream
from traindx.errors import ConfigError


class Loop(Protocol):
    """The models and optimizers that a watch was given. What a framework does not need is left as it is
    here."""

    session: Session

    def begin(self, stepped: Callable[[], None]) -> None:
        """Begin to report to the session; `stepped` is called after each step."""

    def end(self) -> None:
        """Take all hooks away. May be called again."""

    def step(self, state: Any) -> None:
        """A step was made, and left `state`. Raises ConfigError where steps are observed."""
        raise ConfigError("watch.step: this framework's steps are observed; leave the call out")

    @property
    def callback(self) -> Any:
        """What `fit(callbacks=[...])` is to be given. Raises ConfigError where there is no such thing."""
        raise ConfigError("watch.callback: only Keras has callbacks")


STOPPED = (
    3  # exit status of a script that `--stop-on` has ended, so that a shell script does not go on with it
)


class RecordedProcess(Protocol):
    """What a framework's `attach` is given. `request` is what `launch/command.environment` puts together,
    `out` the folder of the record."""

    request: dict[str, Any]
    out: Path
    session: Session | None  # of the framework that trains; None until one does
    records: int  # that are closed
    ends: list[Callable[[], None]]  # called in this order before the record is closed
    experiments: dict[Stream, Callable[[], None]]  # each removes the interventions of its framework
    last_check: Callable[[Session], None] | None  # called once, after the last step of `--steps`
    watch: Any  # its `wanted` maps a module to what is called when the script has imported it

    def stream(self, backend: Callable[[], Backend]) -> Stream:
        """A stream of events. When something trains, it opens a session with the backend that `backend()`
        returns."""

    def claim_process(self, by: Stream) -> bool:
        """Claim the process for the framework of `by`, because it trains. False where another one is
        recorded."""

    def begin_anew(self) -> None:
        """Close the record: the next session is of another model, and has its own folder."""
