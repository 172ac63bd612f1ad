"""A warm-up in front of the learning rate."""

from __future__ import annotations

from typing import Any

from traindx.capture.experiment.kinds import Apply, intervention
from traindx.capture.experiment.rates import warmup_steps
from traindx.capture.torch.experiment.settings import Optimizer
from traindx.capture.torch.experiment.site import Site


@intervention("lr.warmup", stage="settings", values=("50", "0.02"), order=1)
def warmup(value: str) -> Apply:
    """Multiplies the learning rate by 1/N, 2/N ... 1 in the first N steps. A number below 1 is a share of
    all steps, which must be known then: from `--steps`, or from a schedule that is told its length."""
    steps = warmup_steps(value)

    def apply(site: Site) -> None:
        def new(optimizer: Optimizer, _: int, own: Any) -> Any:
            done, all_of_it = site.step(optimizer) + 1, steps(site)
            return own if done >= all_of_it else own * (done / all_of_it)

        site.unused = "it was over before the first step"
        site.group("lr", new)

    return apply
