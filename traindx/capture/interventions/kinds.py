"""What an intervention is: a name, a stage, and how the text of its value is read."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, get_args

from traindx.capture.interventions.values import one_of

Stage = Literal["start", "model", "data", "forward", "backward", "gradients", "settings", "step"]
STAGES: tuple[Stage, ...] = get_args(Stage)


@dataclass(frozen=True, eq=False)
class Intervention:
    """One intervention, whatever the framework.

    `examples` are values, the usual one first. `read(text, name)` turns the text of a value into what a framework
    applies and raises ConfigError; without it, the value is one of the examples. `order` counts within the stage.
    Values of one name that differ in `part` can be combined and are applied in the order of their parts."""

    name: str
    stage: Stage
    examples: tuple[str, ...]
    help: str
    order: int = 0
    read: Callable[[str, str], Any] | None = None
    part: Callable[[Any], int] = lambda _value: 0

    @property
    def page(self) -> str:
        return inspect.cleandoc(self.help)

    def value(self, text: str) -> Any:
        """What the text of a value asks for. Raises ConfigError."""
        return one_of(text, self.name, self.examples) if self.read is None else self.read(text, self.name)


class Given(NamedTuple):
    """An intervention that the user asked for: `spec` is NAME=VALUE, `value` what its text asks for."""

    spec: str
    kind: Intervention
    value: Any
