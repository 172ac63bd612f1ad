"""The learning rate: another value, another schedule, a warm-up."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from keras import ops

from traindx.capture.experiment.kinds import Apply, intervention
from traindx.capture.experiment.rates import Schedule, factor, part, scheduled, warmup_steps
from traindx.capture.experiment.values import change
from traindx.capture.keras.experiment import Site

Shape = Callable[[Any, Any], Any]  # of the base rate and the number of the step


@intervention(
    "lr",
    stage="settings",
    values=("*0.1", "0.01", "constant", "cosine:1000", "sweep:1e-7:10:100"),
    part=part,
)
def lr(value: str) -> Apply:
    """The rate is changed where the optimizer uses it; callbacks and schedules of the script go on and see their own.
    Values as in PyTorch; the base rate is that with which the optimizer was made, or its schedule's highest."""
    if part(value) == 0:
        return schedule(value)
    wanted = change(value, "lr")

    def apply(site: Site) -> None:
        def new(optimizer: Any, own: Any, step: Any) -> Any:
            return own * factor(site, wanted, None if wanted.relative else site.base(optimizer))

        site.unused = "the rate was already that"
        site.on_rate(new)
        if not wanted.relative:
            site.fact("lr", wanted.number)

    return apply


def schedule(value: str) -> Apply:
    """The rates of a schedule in place of the script's."""
    found = scheduled(value)
    if found.name == "constant":
        return shaped(found.name, lambda site: lambda base, step: base)
    return shaped(found.name, lambda site: cosine(site, found)) if found.name == "cosine" else sweep(found)


def shaped(name: str, make: Callable[[Site], Shape]) -> Apply:
    def apply(site: Site) -> None:
        shape = make(site)
        site.fact("schedule", name)
        site.unused = f"the rate was {name} already"
        site.on_rate(lambda optimizer, own, step: own * 0 + shape(site.base(optimizer), step))

    return apply


def cosine(site: Site, found: Schedule) -> Shape:
    def shape(base: Any, step: Any) -> Any:
        return base * 0.5 * (1 + ops.cos(math.pi * ops.minimum(step / found.length(site), 1.0)))

    return shape


def sweep(found: Schedule) -> Apply:
    _, steps, low, high = found
    assert steps is not None

    def shape(base: Any, step: Any) -> Any:
        return low * ops.exp(math.log(high / low) * ops.minimum(step, steps - 1.0) / (steps - 1))

    made = shaped("sweep", lambda site: shape)

    def apply(site: Site) -> None:
        site.stop_after(steps)
        made(site)

    return apply


@intervention("lr.warmup", stage="settings", values=("50", "0.02"), order=1)
def warmup(value: str) -> Apply:
    """As in PyTorch."""
    steps = warmup_steps(value)

    def apply(site: Site) -> None:
        site.unused = "it was over before the first step"
        site.on_rate(lambda _, own, step: own * ops.minimum((step + 1) / max(steps(site), 1), 1.0))

    return apply
