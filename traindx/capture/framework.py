"""What traindx knows of each framework: one frozen value, declared in
`traindx/capture/<framework>/framework.py`.

Those modules are walked, and nothing registers itself. Importing them imports no framework: the launcher
reads them in its own process, where no framework need be installed. A function of a value imports its room
when it is called."""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import traindx.capture

if TYPE_CHECKING:
    from traindx.capture.session import Loop, RecordedProcess

Ability = Literal["experiment", "trace", "memory"]


@dataclass(frozen=True, kw_only=True)
class Framework:
    """A framework whose trainings are recorded. Only `name`, `label`, `attach` and the texts of the page are
    needed; without the rest its trainings are recorded by `traindx run`, and nothing else is offered for
    them."""

    name: (
        str  # as `constraints.txt`, stages of a start and the columns of docs/frameworks.md know it: "torch"
    )
    label: str  # in sentences: "PyTorch"
    attach: Callable[[RecordedProcess], None]  # begin to look for trainings in a script's process

    # docs/frameworks.md
    title: str = ""  # of its column, where that is more than the label
    started_by: str = "`traindx run`"
    observed_by: str = ""  # Markdown: how its trainings are observed, and what is not
    shows: tuple[str, ...] | None = (
        None  # kinds of the signal families that it can record; None: all of them
    )

    tested_with: tuple[
        str, ...
    ] = ()  # distributions of which the page gives the versions in constraints.txt

    module: str = ""  # whose import means that a training may follow; else that of its name
    optimizers: tuple[
        str, ...
    ] = ()  # libraries that may import it, and make its steps: they are waited for, too
    abilities: tuple[Ability, ...] = ()  # what may be done with its trainings besides recording them
    untrained: tuple[
        tuple[str, str], ...
    ] = ()  # why nothing was recorded, by the last stage that a script reached

    # `traindx.watch`: a loop with this model and optimizer; None where they are not of this framework.
    # Raises ConfigError where they are, and something is missing.
    loop: Callable[[Any, Any, Path | None, Any, dict[str, Any]], Loop | None] = lambda *_: None
    watched: str = ""  # what `loop` accepts: "PyTorch's modules with their optimizers"
    computes_with: tuple[
        str, ...
    ] = ()  # frameworks whose models its own may be, too; `loop` is asked before theirs

    @property
    def imported(self) -> str:
        """The module whose import is waited for."""
        return self.module or self.name


@cache
def frameworks(*able_to: Ability) -> tuple[Framework, ...]:
    """All frameworks that can do what is asked for: those that record most come first."""
    found: list[Framework] = []
    for room in pkgutil.iter_modules(traindx.capture.__path__, prefix="traindx.capture."):
        if room.ispkg and importlib.util.find_spec(f"{room.name}.framework") is not None:
            values = vars(importlib.import_module(f"{room.name}.framework")).values()
            found += [value for value in values if isinstance(value, Framework)]
    able = [framework for framework in found if set(able_to) <= set(framework.abilities)]
    return tuple(sorted(able, key=lambda f: (f.shows is not None, -len(f.shows or ()), f.name)))


def as_list(given: Any) -> list[Any]:
    """A list of what may be one or several; None is none."""
    return list(given) if isinstance(given, list | tuple) else [] if given is None else [given]
