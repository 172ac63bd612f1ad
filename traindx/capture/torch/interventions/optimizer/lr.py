"""The learning rate: another value, or another schedule."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from traindx.capture.experiment.kinds import Apply, intervention
from traindx.capture.experiment.rates import Schedule, factor, part, scheduled
from traindx.capture.experiment.values import change
from traindx.capture.torch.experiment.settings import Optimizer, like
from traindx.capture.torch.experiment.site import Site

Shape = Callable[[float, int], float]  # rate of a group at its base rate, number of the step


@intervention(
    "lr",
    stage="settings",
    values=("*0.1", "0.01", "constant", "cosine:1000", "sweep:1e-7:10:100"),
    part=part,
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
            times = factor(site, wanted, None if wanted.relative else bases.highest(optimizer))
            return own if times == 1 else own * times

        site.unused = "the rate was already that"
        site.group("lr", new)

    return apply


def schedule(value: str) -> Apply:
    """The rates of a schedule in place of the script's."""
    found = scheduled(value)
    if found.name == "constant":
        return shaped(found.name, lambda site: lambda base, step: base)
    return shaped(found.name, lambda site: cosine(site, found)) if found.name == "cosine" else sweep(found)


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


def cosine(site: Site, found: Schedule) -> Shape:
    def shape(base: float, step: int) -> float:
        return base * 0.5 * (1 + math.cos(math.pi * min(step / found.length(site), 1.0)))

    return shape


def sweep(found: Schedule) -> Apply:
    _, steps, low, high = found
    assert steps is not None

    def apply(site: Site) -> None:
        bases = Bases(site)
        site.stop_after(steps)

        def new(optimizer: Optimizer, i: int, own: Any) -> Any:
            highest = bases.highest(optimizer)
            share = bases.of(optimizer, i) / highest if highest else 1.0
            return like(
                own, share * low * (high / low) ** (min(site.step(optimizer), steps - 1) / (steps - 1))
            )

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
