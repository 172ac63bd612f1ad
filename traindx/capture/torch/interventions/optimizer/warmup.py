"""A warm-up of the learning rate."""

from __future__ import annotations

from typing import Any

from traindx.capture.experiment.applies import applies
from traindx.capture.interventions.values import Span
from traindx.capture.torch.experiment.settings import Optimizer
from traindx.capture.torch.experiment.site import Site


@applies("lr.warmup")
def warmup(site: Site, wanted: Span) -> None:
    def new(optimizer: Optimizer, _: int, own: Any) -> Any:
        done, steps = site.step(optimizer) + 1, site.resolve(wanted, "lr.warmup=50")
        return own if done >= steps else own * (done / steps)

    site.unused = "the warm-up was over before the first step"
    site.group("lr", new)
