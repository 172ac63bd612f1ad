"""Gradients, after they are measured and before they are used."""

import math

from traindx.capture.keras.interventions.api import Any, Callable, Change, Site, applies, ops
from traindx.capture.keras.notes import norm as norm_of

OWN = ("clipnorm", "global_clipnorm", "clipvalue")


def inner(model: Any) -> Any:
    """A model's optimizer, or the one inside its loss scale."""
    return getattr(model.optimizer, "inner_optimizer", model.optimizer)


@applies("clip")
def clip(site: Site, wanted: Change) -> None:
    """The norm of all gradients together, after the script's own clipping. `*10` and `off` change `clipnorm`,
    `global_clipnorm` and `clipvalue` of the script's optimizer."""
    if wanted.relative:
        loosen(site, wanted.number)
        return
    limit = wanted.number

    def shorten(_optimizer: Any, grads: list[Any]) -> list[Any]:
        site.fact("clip_norm", limit)
        found = ops.sqrt(sum(ops.square(norm_of(g)) for g in grads if g is not None))
        scale = ops.minimum(limit / (found + 1e-6), 1.0)
        return [g if g is None else g * ops.cast(scale, g.dtype) for g in grads]

    def count(model: Any, norm: float) -> None:
        if not min(norm, inner(model).global_clipnorm or math.inf) <= limit:
            site.touched("steps")

    site.on_gradients(shorten)
    site.on_step(count)
    site.unused = f"no gradient had a norm above {limit:g}"


def loosen(site: Site, factor: float) -> None:
    """Multiply the limits of the script's own clipping."""

    def looser(model: Any) -> None:
        optimizer = inner(model)
        for name in OWN:
            own = getattr(optimizer, name)
            if own and factor != 1:
                setattr(optimizer, name, None if math.isinf(factor) else own * factor)
                site.touched("limits")

    site.on_model(looser)
    site.unused = "the script's optimizer does not clip"


@applies("clip.value")
def clip_value(site: Site, limit: float) -> None:
    """Every value of the gradients, after the script's own clipping. Steps whose gradient norm is above the limit are
    counted: in other steps no value can be above it."""

    def count(_model: Any, norm: float) -> None:
        if not norm <= limit:
            site.touched("steps")
            site.fact("clip_value", limit)

    site.on_gradients(lambda _, grads: [g if g is None else ops.clip(g, -limit, limit) for g in grads])
    site.on_step(count)
    site.unused = f"no gradient had a value above {limit:g}"


@applies("skip_nonfinite", unused="all gradients were finite")
def skip_nonfinite(site: Site, _value: str) -> None:
    """A step whose gradients hold an infinity or a NaN changes neither weights nor the optimizer's state."""

    def guarded(step: Callable[..., Any], optimizer: Any, grads: Any, variables: Any = None) -> Any:
        grads = list(grads)
        if variables is not None and not optimizer.built:
            optimizer.build(list(variables))
        fine = ops.all(ops.stack([ops.all(ops.isfinite(g)) for g in grads if g is not None]))
        kept = [
            v
            for v in [*optimizer._trainable_variables, *optimizer.variables]
            if v is not optimizer._iterations
        ]
        before = [ops.copy(ops.convert_to_tensor(v)) for v in kept]
        result = step(optimizer, grads, variables)
        for variable, old in zip(kept, before, strict=True):
            variable.assign(ops.where(fine, ops.convert_to_tensor(variable), old))
        return result

    def count(_model: Any, norm: float) -> None:
        if not math.isfinite(norm):
            site.touched("steps")

    site.around_apply(guarded)
    site.on_step(count)


@applies("accumulate")
def accumulate(site: Site, wanted: int) -> None:
    """`gradient_accumulation_steps` of the optimizer: the gradients of so many batches are averaged, and the rate stays.
    The record counts each batch as a step. Refused where the optimizer has already made steps."""

    def set_it(model: Any) -> None:
        optimizer = inner(model)
        if (optimizer.gradient_accumulation_steps or 1) == wanted:
            return
        if optimizer.built:
            site.refuse("the optimizer has already been built")
        optimizer.gradient_accumulation_steps = wanted if wanted > 1 else None
        site.fact("accumulation", wanted)
        site.touched("optimizers")

    site.on_model(set_it)
    site.unused = f"the script already averages {wanted} batches"
