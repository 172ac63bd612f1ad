"""Learning rates of schedules, in the functions of whatever computes them: `numpy`, `jax.numpy` or `keras.ops`."""

import math
from typing import Any

from traindx.capture.experiment.site import Site
from traindx.capture.interventions.optimizer import Schedule
from traindx.capture.interventions.values import Span


def rate_at(site: Site, schedule: Schedule, base: Any, step: Any, ops: Any) -> Any:
    """The rate of a step, which counts from 0, by a schedule that starts at the base rate."""
    if schedule.name == "cosine":
        length = site.length(schedule.steps, "lr=cosine:1000")
        return base * 0.5 * (1 + ops.cos(math.pi * ops.minimum(step / length, 1.0)))
    if schedule.name == "sweep" and schedule.steps:
        growth = math.log(schedule.high / schedule.low)
        return schedule.low * ops.exp(
            growth * ops.minimum(step, schedule.steps - 1.0) / (schedule.steps - 1)
        )
    return base


def share_at(site: Site, span: Span, step: Any, ops: Any) -> Any:
    """The share of the rate that a step of a warm-up, which counts from 0, uses."""
    return ops.minimum((step + 1) / max(site.resolve(span, "lr.warmup=50"), 1), 1.0)


def replaces_schedule(site: Site, schedule: Schedule) -> None:
    """What is known before any step of a schedule that takes the place of the script's."""
    if schedule.name == "sweep" and schedule.steps:
        site.stop_after(schedule.steps)
    site.unused = f"the schedule is {schedule.name} already"
