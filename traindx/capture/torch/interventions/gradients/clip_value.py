"""Clipping of each gradient value."""

from __future__ import annotations

from traindx.capture.experiment.applies import applies
from traindx.capture.torch.experiment.settings import Optimizer, with_gradients
from traindx.capture.torch.experiment.site import Site


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
