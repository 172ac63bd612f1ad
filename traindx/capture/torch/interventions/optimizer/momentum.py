"""Momentum."""

from __future__ import annotations

from typing import Any

from traindx.capture.experiment.kinds import Apply, intervention
from traindx.capture.experiment.values import number
from traindx.capture.torch.experiment.settings import Optimizer, same
from traindx.capture.torch.experiment.site import Site


@intervention("momentum", stage="settings", values=("0.9", "0"), order=3)
def momentum(value: str) -> Apply:
    """Another momentum in every step of SGD and RMSprop. Refused for optimizers that have none, or call it
    `betas` (Adam)."""
    wanted = number(value, "momentum", high=1.0)

    def apply(site: Site) -> None:
        def new(_optimizer: Optimizer, _: int, own: Any) -> Any:
            return own if same(own, wanted) else wanted

        site.unused = "the script's own is the same"
        site.group("momentum", new)

    return apply
