"""What a framework does for a `Watch`: it reports the running loop to the session."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from traindx.capture.session.session import Session
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
