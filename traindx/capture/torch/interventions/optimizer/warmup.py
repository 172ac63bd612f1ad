"""A warm-up in front of the learning rate."""

from __future__ import annotations

from typing import Any

from traindx.capture.experiment.kinds import Apply, intervention
from traindx.capture.experiment.values import number, whole
from traindx.capture.torch.experiment.settings import Optimizer
from traindx.capture.torch.experiment.site import Site


@intervention("lr.warmup", stage="settings", values=("50", "0.02"), order=1)
def warmup(value: str) -> Apply:
    """Multiplies the learning rate by 1/N, 2/N ... 1 in the first N steps. A number below 1 is a share of
    all steps, which must be known then: from `--steps`, or from a schedule that is told its length."""
    share = number(value, "lr.warmup")
    given = None if 0 < share < 1 else whole(value, "lr.warmup", low=0)

    def apply(site: Site) -> None:
        def new(optimizer: Optimizer, _: int, own: Any) -> Any:
            steps = given
            if steps is None:
                planned = site.planned()
                if planned is None:
                    site.refuse("the number of steps is not known: lr.warmup=50, or --steps")
                steps = round(share * planned)
            done = site.step(optimizer) + 1
            return own if done >= steps else own * (done / steps)

        site.unused = "it was over before the first step"
        site.group("lr", new)

    return apply
