"""The small number in a denominator."""

from __future__ import annotations

from typing import Any

from traindx.capture.experiment.kinds import Apply, intervention
from traindx.capture.experiment.values import number
from traindx.capture.torch.experiment.settings import Optimizer, same
from traindx.capture.torch.experiment.site import Site


@intervention("eps", stage="settings", values=("1e-8",), order=5)
def eps(value: str) -> Apply:
    """Another `eps` (what keeps the denominator away from 0) in every step of Adam, RMSprop, Adagrad and
    their kin. Refused for optimizers that have none."""
    wanted = number(value, "eps")

    def apply(site: Site) -> None:
        def new(_optimizer: Optimizer, _: int, own: Any) -> Any:
            return own if same(own, wanted) else wanted

        site.unused = "the script's own is the same"
        site.group("eps", new)

    return apply
