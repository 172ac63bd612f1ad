"""What the values of `lr` and `lr.warmup` ask for, whatever the framework."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from traindx.capture.experiment.site import Site
from traindx.capture.experiment.values import Change, number, positive, whole
from traindx.errors import ConfigError


class Schedule(NamedTuple):
    """Rates in place of the script's: `constant`, `cosine` (over `steps`; None: of the whole run), or a `sweep` from
    `low` to `high` in so many."""

    name: str
    steps: int | None = None
    low: float = 0.0
    high: float = 0.0

    def length(self, site: Site) -> int:
        """Over how many steps. Refuses where that is not known."""
        return known(self.steps or site.planned(), site, "lr=cosine:1000")


def part(value: str) -> int:
    """A schedule (0) and a value (1) may be given together."""
    return 0 if value[:1].isalpha() else 1


def scheduled(value: str) -> Schedule:
    """Raises ConfigError."""
    name, *numbers = value.split(":")
    if name == "constant" and not numbers:
        return Schedule(name)
    if name == "cosine" and len(numbers) < 2:
        return Schedule(name, whole(numbers[0], "lr=cosine") if numbers else None)
    if name == "sweep" and len(numbers) == 3:
        low, high = (positive(n, "lr=sweep") for n in numbers[:2])
        return Schedule(name, whole(numbers[2], "lr=sweep", low=2), low, high)
    why = (
        "only by the validation loss, which is not known from outside"
        if name == "plateau"
        else "not a schedule"
    )
    raise ConfigError(
        f"--with lr={value}: {why}; lr is a number, *factor, constant, cosine:N or sweep:A:B:N"
    )


def factor(site: Site, wanted: Change, base: float | None) -> float:
    """What the script's rates are multiplied by; `base` is the one that its optimizer was made with."""
    if wanted.relative:
        return wanted.number
    if not base:
        site.refuse("the script's optimizer was made with a rate of 0: there is no base to set")
    return wanted.number / base


def warmup_steps(value: str) -> Callable[[Site], int]:
    """How many steps a warm-up takes: so many, or a share of all. Raises ConfigError."""
    share = number(value, "lr.warmup")
    given = None if 0 < share < 1 else whole(value, "lr.warmup", low=0)

    def steps(site: Site) -> int:
        return round(share * known(site.planned(), site, "lr.warmup=50")) if given is None else given

    return steps


def known(steps: int | None, site: Site, instead: str) -> int:
    if steps is None:
        site.refuse(f"the number of steps is not known: {instead}, or --steps")
    return steps
