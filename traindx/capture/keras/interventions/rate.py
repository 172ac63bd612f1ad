"""The learning rate: another value, another schedule, a warm-up."""

from __future__ import annotations

import math

from traindx.capture.experiment.site import rate_factor
from traindx.capture.interventions.optimizer import Schedule
from traindx.capture.keras.interventions.api import Any, Change, Site, Span, applies, ops


@applies("lr")
def lr(site: Site, wanted: Change | Schedule) -> None:
    """The rate is changed where the optimizer uses it; the script's callbacks and schedules still see their own.
    Values as in PyTorch. The base rate is the rate that the optimizer was made with, or its schedule's highest."""
    if isinstance(wanted, Schedule):
        replace_schedule(site, wanted)
        return

    def new(optimizer: Any, own: Any, step: Any) -> Any:
        return own * rate_factor(site, wanted, None if wanted.relative else site.base(optimizer))

    site.unused = "the script already uses this rate"
    site.on_rate(new)
    if not wanted.relative:
        site.fact("lr", wanted.number)


def replace_schedule(site: Site, schedule: Schedule) -> None:
    """Each step uses the rate of a schedule, whatever the script's own would be."""
    steps = schedule.steps
    if schedule.name == "sweep" and steps:
        site.stop_after(steps)

    def rate(base: Any, step: Any) -> Any:
        if schedule.name == "cosine":
            length = site.length(steps, "lr=cosine:1000")
            return base * 0.5 * (1 + ops.cos(math.pi * ops.minimum(step / length, 1.0)))
        if schedule.name == "sweep" and steps:
            growth = math.log(schedule.high / schedule.low)
            return schedule.low * ops.exp(growth * ops.minimum(step, steps - 1.0) / (steps - 1))
        return base

    site.fact("schedule", schedule.name)
    site.unused = f"the schedule is {schedule.name} already"
    site.on_rate(lambda optimizer, own, step: own * 0 + rate(site.base(optimizer), step))


@applies("lr.warmup")
def warmup(site: Site, wanted: Span) -> None:
    """As in PyTorch."""

    def new(_optimizer: Any, own: Any, step: Any) -> Any:
        return own * ops.minimum((step + 1) / max(site.resolve(wanted, "lr.warmup=50"), 1), 1.0)

    site.unused = "the warm-up was over before the first step"
    site.on_rate(new)
