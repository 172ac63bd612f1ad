"""The learning rate: another value, another schedule, a warm-up."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from keras import ops

from traindx.capture.experiment.kinds import Apply, intervention
from traindx.capture.experiment.values import change, number, positive, whole
from traindx.capture.keras.experiment import Site
from traindx.errors import ConfigError

Shape = Callable[[Any, Any], Any]  # of the base rate and the number of the step


def part(value: str) -> int:
    """A schedule (0) and a value (1) may be given together."""
    return 0 if value[:1].isalpha() else 1


@intervention(
    "lr", stage="settings", values=("*0.1", "0.01", "constant", "cosine:1000", "sweep:1e-7:10:100"), part=part
)
def lr(value: str) -> Apply:
    """The rate is changed where the optimizer uses it; callbacks and schedules of the script go on and see their own.
    Values as in PyTorch; the base rate is that with which the optimizer was made, or its schedule's highest."""
    if part(value) == 0:
        return schedule(value)
    wanted = change(value, "lr")

    def apply(site: Site) -> None:
        def new(optimizer: Any, own: Any, step: Any) -> Any:
            if wanted.relative:
                return own * wanted.number
            base = site.base(optimizer)
            if not base:
                site.refuse("the script's optimizer was made with a rate of 0: there is no base to set")
            return own * (wanted.number / base)

        site.unused = "the rate was already that"
        site.on_rate(new)
        if not wanted.relative:
            site.fact("lr", wanted.number)

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
    raise ConfigError(f"--with lr={value}: lr is a number, *factor, constant, cosine:N or sweep:A:B:N")


def shaped(name: str, make: Callable[[Site], Shape]) -> Apply:
    def apply(site: Site) -> None:
        shape = make(site)
        site.fact("schedule", name)
        site.unused = f"the rate was {name} already"
        site.on_rate(lambda optimizer, own, step: own * 0 + shape(site.base(optimizer), step))

    return apply


def cosine(site: Site, given: int | None) -> Shape:
    def shape(base: Any, step: Any) -> Any:
        steps = given or site.planned()
        if steps is None:
            site.refuse("the number of steps is not known: lr=cosine:1000, or --steps")
        return base * 0.5 * (1 + ops.cos(math.pi * ops.minimum(step / steps, 1.0)))

    return shape


def sweep(low: float, high: float, steps: int) -> Apply:
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
    share = number(value, "lr.warmup")
    given = None if 0 < share < 1 else whole(value, "lr.warmup", low=0)

    def apply(site: Site) -> None:
        def new(_optimizer: Any, own: Any, step: Any) -> Any:
            steps = given
            if steps is None:
                planned = site.planned()
                if planned is None:
                    site.refuse("the number of steps is not known: lr.warmup=50, or --steps")
                steps = round(share * planned)
            return own * ops.minimum((step + 1) / max(steps, 1), 1.0)

        site.unused = "it was over before the first step"
        site.on_rate(new)

    return apply
