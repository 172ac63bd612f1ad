"""The learning rate: another value, or another schedule."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from traindx.capture.experiment.kinds import Apply, intervention
from traindx.capture.experiment.values import change, positive, whole
from traindx.capture.torch.experiment.settings import Optimizer, like
from traindx.capture.torch.experiment.site import Site
from traindx.errors import ConfigError

Shape = Callable[[float, int], float]  # rate of a group at its base rate, number of the step


def part(value: str) -> int:
    """A schedule (0) and a value (1) may be given together."""
    return 0 if value[:1].isalpha() else 1


@intervention(
    "lr", stage="settings", values=("*0.1", "0.01", "constant", "cosine:1000", "sweep:1e-7:10:100"), part=part
)
def lr(value: str) -> Apply:
    """Another learning rate in every step of every optimizer. The script's own schedulers go on and see
    their own values: the rate is put in place before a step and taken back after it.

    `*0.1` multiplies whatever rate the script has set. `0.01` makes it the base rate (that with which the
    optimizer was made; of OneCycleLR its `max_lr`; of several groups the highest), and keeps the shape of
    the script's schedule and the ratios of its groups. `constant` and `cosine:N` (to 0 over N steps; N may
    be left out with `--steps`) replace the schedule by one from the base rate on. `sweep:A:B:N` raises the
    rate exponentially from A to B in N steps, and then ends the script. A schedule and a value may be given
    together. With two optimizers both are changed."""
    if part(value) == 0:
        return schedule(value)
    wanted = change(value, "lr")

    def apply(site: Site) -> None:
        bases = Bases(site)

        def new(optimizer: Optimizer, i: int, own: Any) -> Any:
            if wanted.relative:
                return own * wanted.number
            base = bases.highest(optimizer)
            if not base:
                site.refuse("the script's optimizer was made with a rate of 0: there is no base to set")
            return own if base == wanted.number else own * (wanted.number / base)

        site.unused = "the rate was already that"
        site.group("lr", new)

    return apply


def schedule(value: str) -> Apply:
    """The rates of a schedule in place of the script's."""
    name, *numbers = value.split(":")
    if name == "constant" and not numbers:
        return shaped(name, lambda site: lambda base, step: base)
    if name == "cosine" and len(numbers) < 2:
        given = whole(numbers[0], "lr=cosine") if numbers else None
        return shaped(name, lambda site: cosine(site, given))
    if name == "sweep" and len(numbers) == 3:
        low, high = (positive(n, "lr=sweep") for n in numbers[:2])
        return sweep(low, high, whole(numbers[2], "lr=sweep", low=2))
    why = "only by the validation loss, which is not known from outside" if name == "plateau" else "not a schedule"
    raise ConfigError(f"--with lr={value}: {why}; lr is a number, *factor, constant, cosine:N or sweep:A:B:N")


def shaped(name: str, make: Callable[[Site], Shape]) -> Apply:
    def apply(site: Site) -> None:
        shape, bases = make(site), Bases(site)

        def new(optimizer: Optimizer, i: int, own: Any) -> Any:
            wanted = shape(bases.of(optimizer, i), site.step(optimizer))
            return own if float(own) == wanted else like(own, wanted)

        site.unused = f"the rate was {name} already"
        site.around_step(lambda _: site.fact("schedule", name), lambda _: None)
        site.group("lr", new)

    return apply


def cosine(site: Site, given: int | None) -> Shape:
    def shape(base: float, step: int) -> float:
        steps = given or site.planned()
        if steps is None:
            site.refuse("the number of steps is not known: lr=cosine:1000, or --steps")
        return base * 0.5 * (1 + math.cos(math.pi * min(step / steps, 1.0)))

    return shape


def sweep(low: float, high: float, steps: int) -> Apply:
    def apply(site: Site) -> None:
        bases = Bases(site)
        site.stop_after(steps)

        def new(optimizer: Optimizer, i: int, own: Any) -> Any:
            highest = bases.highest(optimizer)
            share = bases.of(optimizer, i) / highest if highest else 1.0
            return like(own, share * low * (high / low) ** (min(site.step(optimizer), steps - 1) / (steps - 1)))

        site.fact("schedule", "sweep")
        site.group("lr", new)

    return apply


class Bases:
    """The rates with which the groups of each optimizer were made."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.rates: dict[int, list[float]] = {}
        site.on_optimizer(self.read)

    def read(self, optimizer: Optimizer) -> None:
        self.rates[id(optimizer)] = [float(g["lr"]) for g in optimizer.param_groups if "lr" in g]

    def of(self, optimizer: Optimizer, i: int) -> float:
        """That of one group; groups that came later, or have no rate of their making, count as they are."""
        group, known = optimizer.param_groups[i], self.rates.setdefault(id(optimizer), [])
        while len(known) <= i:
            known.append(float(optimizer.param_groups[len(known)]["lr"]))
        return float(group.get("max_lr", known[i]))

    def highest(self, optimizer: Optimizer) -> float:
        return max(self.of(optimizer, i) for i in range(len(optimizer.param_groups)))
