"""The learning rate, its schedule and its warm-up."""

from __future__ import annotations

import math

from traindx.capture.experiment.site import rate_factor
from traindx.capture.interventions.optimizer import Schedule
from traindx.capture.torch.alter.api import Any, Callable, Change, Optimizer, Site, Span, applies, cast_like


@applies("lr")
def lr(site: Site, wanted: Change | Schedule) -> None:
    bases = Bases(site)
    if isinstance(wanted, Schedule):
        replace_schedule(site, bases, wanted)
        return

    def new(optimizer: Optimizer, i: int, own: Any) -> Any:
        times = rate_factor(site, wanted, None if wanted.relative else bases.highest(optimizer))
        return own if times == 1 else own * times

    site.unused = "the script already uses this rate"
    site.group("lr", new)


def replace_schedule(site: Site, bases: Bases, schedule: Schedule) -> None:
    """Each step uses the rate of a schedule, whatever the script's own would be."""
    rate: Callable[[Optimizer, int], float] = bases.rate
    if schedule.name == "cosine":
        rate = cosine(site, bases, schedule)
    elif schedule.name == "sweep":
        rate = sweep(site, bases, schedule)

    def new(optimizer: Optimizer, i: int, own: Any) -> Any:
        wanted = rate(optimizer, i)
        return own if float(own) == wanted else cast_like(own, wanted)

    site.unused = f"the schedule is {schedule.name} already"
    # At each step: discovery records the script's own schedule as soon as it finds it.
    site.around_step(lambda _: site.fact("schedule", schedule.name), lambda _: None)
    site.group("lr", new)


def cosine(site: Site, bases: Bases, schedule: Schedule) -> Callable[[Optimizer, int], float]:
    def rate(optimizer: Optimizer, i: int) -> float:
        done = min(site.step(optimizer) / site.length(schedule.steps, "lr=cosine:1000"), 1.0)
        return bases.rate(optimizer, i) * 0.5 * (1 + math.cos(math.pi * done))

    return rate


def sweep(site: Site, bases: Bases, schedule: Schedule) -> Callable[[Optimizer, int], float]:
    _, steps, low, high = schedule
    assert steps is not None
    site.stop_after(steps)

    def rate(optimizer: Optimizer, i: int) -> float:
        highest = bases.highest(optimizer)
        share = bases.rate(optimizer, i) / highest if highest else 1.0
        return float(share * low * (high / low) ** (min(site.step(optimizer), steps - 1) / (steps - 1)))

    return rate


class Bases:
    """The rates with which the groups of each optimizer were made."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.rates: dict[int, list[float]] = {}
        site.on_optimizer(self.read)

    def read(self, optimizer: Optimizer) -> None:
        self.rates[id(optimizer)] = [float(g["lr"]) for g in optimizer.param_groups if "lr" in g]

    def rate(self, optimizer: Optimizer, i: int) -> float:
        """The rate of one group. A group that was added later counts with the rate that it has now."""
        group, known = optimizer.param_groups[i], self.rates.setdefault(id(optimizer), [])
        while len(known) <= i:
            known.append(float(optimizer.param_groups[len(known)]["lr"]))
        return float(group.get("max_lr", known[i]))

    def highest(self, optimizer: Optimizer) -> float:
        return max(self.rate(optimizer, i) for i in range(len(optimizer.param_groups)))


@applies("lr.warmup", unused="the warm-up was over before the first step")
def warmup(site: Site, wanted: Span) -> None:
    def new(optimizer: Optimizer, _: int, own: Any) -> Any:
        done, steps = site.step(optimizer) + 1, site.resolve(wanted, "lr.warmup=50")
        return own if done >= steps else own * (done / steps)

    site.group("lr", new)
