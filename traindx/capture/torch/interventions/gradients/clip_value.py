"""Clipping of each gradient value."""

from __future__ import annotations

from traindx.capture.experiment.kinds import Apply, intervention
from traindx.capture.experiment.values import positive
from traindx.capture.torch.experiment.settings import Optimizer
from traindx.capture.torch.experiment.site import Site


@intervention("clip.value", stage="gradients", values=("0.5",), order=1)
def clip_value(value: str) -> Apply:
    """Clips every value of the gradients to `[-0.5, 0.5]`, as `clip_grad_value_` does, after the script's own
    clipping and after unscaling. NaN stays. Cannot be done to LBFGS."""
    limit = positive(value, "clip.value")

    def apply(site: Site) -> None:
        def shorten(optimizer: Optimizer) -> None:
            grads = [
                p.grad for group in optimizer.param_groups for p in group["params"] if p.grad is not None
            ]
            above = [g for g in grads if bool((g.abs() > limit).any())]
            for grad in above:
                grad.clamp_(-limit, limit)
            if above:
                site.fact("clip_value", limit)
                site.touched("steps")

        site.on_gradients(shorten)
        site.unused = f"no gradient had a value above {limit:g}"

    return apply
