"""What an intervention is: a name, a stage, and a function from the text of its value to what is
done in the script's process."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

Stage = Literal["start", "model", "data", "forward", "backward", "gradients", "settings", "step"]
STAGES: tuple[Stage, ...] = (
    "start",
    "model",
    "data",
    "forward",
    "backward",
    "gradients",
    "settings",
    "step",
)

Apply = Callable[[Any], None]  # of the framework's own Site


@dataclass(frozen=True, eq=False)
class Kind:
    """One intervention. `values` are examples, the first the usual one. `read` turns the text of a
    value into what is applied, and raises ConfigError. `order` counts within the stage. Of one
    name, values of different `part` may be given together, and are applied in its order."""

    name: str
    stage: Stage
    values: tuple[str, ...]
    order: int
    part: Callable[[str], int]
    read: Callable[[str], Apply]

    @property
    def page(self) -> str:
        return inspect.getdoc(self.read) or ""


class Given(NamedTuple):
    """An intervention that was asked for: `spec` as NAME=VALUE."""

    spec: str
    kind: Kind
    part: int
    apply: Apply


def intervention(
    name: str,
    *,
    stage: Stage,
    values: tuple[str, ...],
    order: int = 0,
    part: Callable[[str], int] = lambda _value: 0,
) -> Callable[[Callable[[str], Apply]], Kind]:
    """Turn a function into a Kind; its docstring is the page."""

    def build(read: Callable[[str], Apply]) -> Kind:
        return Kind(name, stage, values, order, part, read)

    return build
