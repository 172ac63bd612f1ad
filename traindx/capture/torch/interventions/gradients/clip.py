"""Gradients that are clipped, as a whole or value by value, and steps that are skipped where they are not finite."""

import inspect
import math

from traindx.capture.torch.alter.api import (
    Any,
    Callable,
    Change,
    Optimizer,
    Site,
    applies,
    torch,
    with_gradients,
)


@applies("clip")
def clip(site: Site, wanted: Change) -> None:
    if wanted.relative:
        loosen(site, wanted.number)
        return
    limit = wanted.number
    # Without capture's wrapper: it has measured this step already.
    original = inspect.unwrap(torch.nn.utils.clip_grad_norm_)

    def shorten(optimizer: Optimizer) -> None:
        site.fact("clip_norm", limit)
        norm = original(with_gradients(optimizer), limit)
        if not float(norm) <= limit:
            site.touched("steps")

    site.on_gradients(shorten)
    site.unused = f"no gradient had a norm above {limit:g}"


def loosen(site: Site, factor: float) -> None:
    """Multiply the limits of the script's own clipping."""

    def hook(name: str) -> Callable[..., Any]:
        def looser(original: Callable[..., Any], parameters: Any, *args: Any, **named: Any) -> Any:
            limit, *rest = args or (named.pop(name),)
            if factor != 1 and not math.isinf(float(limit)):
                site.touched("calls")
            if math.isinf(factor):
                return measure_only(original, parameters, name, *rest, **named)
            return original(parameters, float(limit) * factor, *rest, **named)

        return looser

    for home in (torch.nn.utils, torch.nn.utils.clip_grad):
        site.wrap(home, "clip_grad_norm_", hook("max_norm"))
        site.wrap(home, "clip_grad_value_", hook("clip_value"))
    site.unused = "the script does not clip with clip_grad_norm_ or clip_grad_value_"


def measure_only(original: Callable[..., Any], parameters: Any, name: str, *rest: Any, **named: Any) -> Any:
    """The norm that the script's call would have returned, without changing the gradients: copies are clipped,
    because a limit of infinity would make NaN of gradients whose norm is not finite."""
    parameters = [parameters] if isinstance(parameters, torch.Tensor) else list(parameters)
    if name == "clip_value":
        return None
    stand_ins = [torch.empty_like(p) for p in parameters if p.grad is not None]
    for stand_in, p in zip(stand_ins, (p for p in parameters if p.grad is not None), strict=True):
        stand_in.grad = p.grad.detach().clone()
    return original(stand_ins, math.inf, *rest, **named)


@applies("clip.value")
def clip_value(site: Site, limit: float) -> None:
    def shorten(optimizer: Optimizer) -> None:
        grads = [p.grad for p in with_gradients(optimizer)]
        above = [g for g in grads if bool((g.abs() > limit).any())]
        for grad in above:
            grad.clamp_(-limit, limit)
        if above:
            site.fact("clip_value", limit)
            site.touched("steps")

    site.on_gradients(shorten)
    site.unused = f"no gradient had a value above {limit:g}"


@applies("skip_nonfinite", unused="all gradients were finite")
def skip_nonfinite(site: Site, _value: str) -> None:
    def check(optimizer: Optimizer) -> None:
        grads = [p.grad for p in with_gradients(optimizer)]
        values = (g.coalesce().values() if g.is_sparse else g for g in grads)
        if not all(bool(v.isfinite().all()) for v in values):
            site.withhold(optimizer)
            site.touched("steps")

    site.on_gradients(check)
