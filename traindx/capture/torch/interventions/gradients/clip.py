"""Clipping of gradients by their norm."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from typing import Any

from traindx.capture.experiment.kinds import Apply, intervention
from traindx.capture.experiment.values import change, positive
from traindx.capture.torch.experiment.settings import Optimizer
from traindx.capture.torch.experiment.site import Site


def part(value: str) -> int:
    """The script's own limits (0) and one more (1) may be given together."""
    return 0 if value == "off" or value.startswith("*") else 1


@intervention("clip", stage="gradients", values=("1.0", "*10", "off"), order=2, part=part)
def clip(value: str) -> Apply:
    """Clips the gradients of each optimizer to a norm of at most `1.0`, as `clip_grad_norm_` does, after
    the script's own clipping and after unscaling. The recorded `grad_norm` is the one before.

    `*10` multiplies the limits of the script's own clipping (`clip_grad_norm_` and `clip_grad_value_`) and
    `off` takes them away; with both `clip=off` and `clip=1.0` the limit is replaced. Cannot be done to
    LBFGS, which computes its gradients inside of its step."""
    if value == "off":
        return loosen(math.inf)
    if value.startswith("*"):
        return loosen(positive(value[1:], "clip=*"))
    limit = change(value, "clip", strict=True).number

    def apply(site: Site) -> None:
        import torch

        original = inspect.unwrap(
            torch.nn.utils.clip_grad_norm_
        )  # capture is not told: it has measured already

        def shorten(optimizer: Optimizer) -> None:
            site.fact("clip_norm", limit)
            parameters = [
                p for group in optimizer.param_groups for p in group["params"] if p.grad is not None
            ]
            norm = original(parameters, limit)
            if not float(norm) <= limit:
                site.touched("steps")

        site.on_gradients(shorten)
        site.unused = f"no gradient had a norm above {limit:g}"

    return apply


def loosen(factor: float) -> Apply:
    """The script's own limits, multiplied."""

    def apply(site: Site) -> None:
        import torch

        def hook(name: str) -> Callable[..., Any]:
            def looser(original: Callable[..., Any], parameters: Any, *args: Any, **named: Any) -> Any:
                limit, *rest = args or (named.pop(name),)
                if factor != 1 and not math.isinf(float(limit)):
                    site.touched("calls")
                if math.isinf(factor):
                    return free(original, parameters, name, *rest, **named)
                return original(parameters, float(limit) * factor, *rest, **named)

            return looser

        for home in (torch.nn.utils, torch.nn.utils.clip_grad):
            site.wrap(home, "clip_grad_norm_", hook("max_norm"))
            site.wrap(home, "clip_grad_value_", hook("clip_value"))
        site.unused = "the script does not clip with clip_grad_norm_ or clip_grad_value_"

    return apply


def free(original: Callable[..., Any], parameters: Any, name: str, *rest: Any, **named: Any) -> Any:
    """The norm that the script's call would have returned; the gradients stay as they are, also
    where the norm is not finite and a limit of infinity would make them NaN."""
    import torch

    parameters = [parameters] if isinstance(parameters, torch.Tensor) else list(parameters)
    if name == "clip_value":
        return None
    stand_ins = [torch.empty_like(p) for p in parameters if p.grad is not None]
    for stand_in, p in zip(stand_ins, (p for p in parameters if p.grad is not None), strict=True):
        stand_in.grad = p.grad.detach().clone()
    return original(stand_ins, math.inf, *rest, **named)
