"""Gradients between their measuring and their use."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from keras import ops

from traindx.capture.experiment.kinds import Apply, intervention
from traindx.capture.experiment.values import change, one_of, positive, whole
from traindx.capture.keras.experiment import Site
from traindx.capture.keras.notes import norm as norm_of

OWN = ("clipnorm", "global_clipnorm", "clipvalue")


def inner(model: Any) -> Any:
    """A model's optimizer, or the one inside its loss scale."""
    return getattr(model.optimizer, "inner_optimizer", model.optimizer)


def part(value: str) -> int:
    """The script's own limits (0) and one more (1) may be given together."""
    return 0 if value == "off" or value.startswith("*") else 1


@intervention("clip", stage="gradients", values=("1.0", "*10", "off"), order=2, part=part)
def clip(value: str) -> Apply:
    """The norm of all gradients together, after the script's own clipping. `*10` and `off` change `clipnorm`,
    `global_clipnorm` and `clipvalue` of the script's optimizer."""
    if part(value) == 0:
        return loosen(math.inf if value == "off" else positive(value[1:], "clip=*"))
    limit = change(value, "clip", strict=True).number

    def apply(site: Site) -> None:
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

    return apply


def loosen(factor: float) -> Apply:
    """The script's own limits, multiplied."""

    def apply(site: Site) -> None:
        def looser(model: Any) -> None:
            optimizer = inner(model)
            for name in OWN:
                own = getattr(optimizer, name)
                if own and factor != 1:
                    setattr(optimizer, name, None if math.isinf(factor) else own * factor)
                    site.touched("limits")

        site.on_model(looser)
        site.unused = "the script's optimizer does not clip"

    return apply


@intervention("clip.value", stage="gradients", values=("0.5",), order=1)
def clip_value(value: str) -> Apply:
    """Every value of the gradients, after the script's own clipping. Counted are the steps whose gradients' norm is
    above the value: in others none can be."""
    limit = positive(value, "clip.value")

    def apply(site: Site) -> None:
        def count(_model: Any, norm: float) -> None:
            if not norm <= limit:
                site.touched("steps")
                site.fact("clip_value", limit)

        site.on_gradients(lambda _, grads: [g if g is None else ops.clip(g, -limit, limit) for g in grads])
        site.on_step(count)
        site.unused = f"no gradient had a value above {limit:g}"

    return apply


@intervention("skip_nonfinite", stage="gradients", values=("on",))
def skip_nonfinite(value: str) -> Apply:
    """A step whose gradients hold an infinity or a NaN changes neither weights nor the optimizer's state."""
    one_of(value, "skip_nonfinite", ("on",))

    def apply(site: Site) -> None:
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
        site.unused = "all gradients were finite"

    return apply


@intervention("accumulate", stage="backward", values=("4",), order=2)
def accumulate(value: str) -> Apply:
    """`gradient_accumulation_steps` of the optimizer: gradients of so many batches are averaged, the rate stays. The
    steps of the record are the batches. Refused where the optimizer has made steps already."""
    wanted = whole(value, "accumulate")

    def apply(site: Site) -> None:
        def set_it(model: Any) -> None:
            optimizer = inner(model)
            if (optimizer.gradient_accumulation_steps or 1) == wanted:
                return
            if optimizer.built:
                site.refuse("the optimizer has been built already")
            optimizer.gradient_accumulation_steps = wanted if wanted > 1 else None
            site.fact("accumulation", wanted)
            site.touched("optimizers")

        site.on_model(set_it)
        site.unused = "so many were averaged already"

    return apply
