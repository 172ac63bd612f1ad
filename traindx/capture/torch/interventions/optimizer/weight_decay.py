"""Weight decay."""

from __future__ import annotations

from typing import Any

from traindx.capture.experiment.kinds import Apply, intervention
from traindx.capture.experiment.values import change
from traindx.capture.torch.experiment.settings import Optimizer
from traindx.capture.torch.experiment.site import Site


@intervention("weight_decay", stage="settings", values=("0.01", "*3"), order=2)
def weight_decay(value: str) -> Apply:
    """Another weight decay in every step of every optimizer, a number or a multiple of the script's own.
    Of several groups, those that are kept free of it (biases, norms) stay so, unless all are. Decoupled or
    added to the gradient as the script's optimizer does it. Refused where the optimizer has none (LBFGS)."""
    wanted = change(value, "weight_decay")

    def apply(site: Site) -> None:
        def new(optimizer: Optimizer, _: int, own: Any) -> Any:
            if wanted.relative:
                return own * wanted.number
            exempt = not own and any(group.get("weight_decay") for group in optimizer.param_groups)
            return own if exempt or own == wanted.number else wanted.number

        site.unused = "the script has no weight decay" if wanted.relative else "the script's own is the same"
        if wanted == (1.0, True):
            site.unused = "the script's own is the same"
        site.group("weight_decay", new)

    return apply
