"""What a fault of the gym is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from benchmarks.gym.recipe import Recipe

Change = Callable[[Recipe, float], Recipe | None]
Harm = Literal["model", "report", "time", "memory", "end"]


@dataclass(frozen=True)
class Fault:
    """`change` makes a recipe faulty (None: not possible there), more so with more strength (its meaning is the
    fault's own). `cause` is the right answer; `also` are answers that are right as well (a reader of the whole script
    could defend them). `harm` says where the damage is looked for: in the model, in what the script reports of it, or
    in the time or memory it
    takes. `onset` is where in the run it begins, as a share. `sees`: what must be logged to show it.
    `second`: of a pair of faults, the right answers for the other one. `settings`: where it is possible, other than
    in the common ones."""

    name: str
    cause: str
    change: Change
    strengths: tuple[float, ...] = (1.0,)
    also: tuple[str, ...] = ()
    harm: Harm = "model"
    onset: float = 0.0
    sees: tuple[Literal["val", "clock", "end"], ...] = ()
    second: tuple[str, ...] = ()
    settings: tuple[Recipe, ...] = ()
