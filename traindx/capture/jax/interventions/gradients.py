"""Gradients, before the optimizer uses them."""

import math
from collections.abc import Callable
from typing import Any

from traindx.capture.experiment.applies import applies
from traindx.capture.interventions.values import Change
from traindx.capture.jax.experiment import Making, Site

EVER = 2**31 - 1  # steps in a row that may be skipped


def wrap(site: Site, wrapper: Callable[[Any, Any], Any]) -> None:
    """`wrapper(optax, made)` puts something before each optimizer, or around it. The steps that it changes are
    counted, not the optimizers."""

    def new(making: Making) -> bool:
        making.wrappers.append(wrapper)
        return False

    site.on_optimizer(new)


def count_above(site: Site, limit: float) -> None:
    """Count the steps whose gradient norm is above a limit, or not a number."""
    site.on_step(lambda norm: None if norm <= limit else site.touched("steps"))


@applies("clip")
def clip(site: Site, wanted: Change) -> None:
    """`clip_by_global_norm` before each optimizer, after the script's own clipping. `*10` and `off` change the limits of
    the script's own `clip_by_global_norm`, `clip` and `clip_by_block_rms`."""
    if wanted.relative:
        loosen(site, wanted.number)
        return
    limit = wanted.number
    wrap(site, lambda optax, made: optax.chain(optax.clip_by_global_norm(limit), made))
    count_above(site, limit)
    site.fact("clip_norm", limit)
    site.unused = f"no gradient had a norm above {limit:g}"


def loosen(site: Site, factor: float) -> None:
    """Multiply the limits of the script's own clipping."""

    def looser(limit: float) -> float:
        if factor != 1:
            site.touched("limits")
        return limit * factor

    site.on_limit(looser)
    site.unused = "the script does not clip"


@applies("clip.value")
def clip_value(site: Site, limit: float) -> None:
    """`optax.clip` before each optimizer, after the script's own clipping. Steps whose gradient norm is above the limit
    are counted: in other steps no value can be above it."""
    wrap(site, lambda optax, made: optax.chain(optax.clip(limit), made))
    count_above(site, limit)
    site.fact("clip_value", limit)
    site.unused = f"no gradient had a value above {limit:g}"


@applies("skip_nonfinite", unused="all gradients were finite")
def skip_nonfinite(site: Site, _value: str) -> None:
    """`apply_if_finite` around each optimizer: a step whose gradients hold an infinity or a NaN changes neither
    parameters nor the optimizer's state."""
    wrap(site, lambda optax, made: optax.apply_if_finite(made, EVER))
    count_above(site, math.nextafter(math.inf, 0))


@applies("accumulate")
def accumulate(site: Site, wanted: int) -> None:
    """`MultiSteps` around each optimizer: the gradients of so many batches are averaged, and the rate stays. The record
    counts each batch as a step."""

    def new(making: Making) -> bool:
        if wanted > 1:
            making.wrappers.append(
                lambda optax, made: optax.MultiSteps(made, wanted).gradient_transformation()
            )
            site.fact("accumulation", wanted)
        return wanted > 1

    site.on_optimizer(new)
    site.unused = "the script already makes a step for each batch"
