"""The averaging of Adam and its kin."""

from __future__ import annotations

from typing import Any

from traindx.capture.experiment.kinds import Apply, intervention
from traindx.capture.experiment.values import number
from traindx.capture.torch.experiment.settings import Optimizer, same
from traindx.capture.torch.experiment.site import Site
from traindx.errors import ConfigError


@intervention("betas", stage="settings", values=("0.9,0.95",), order=4)
def betas(value: str) -> Apply:
    """Other `betas` (of the mean of gradients, of that of their squares) in every step of Adam and its kin,
    from the first on. Refused for optimizers that have none."""
    wanted = tuple(number(part.strip(), "betas", high=1.0) for part in value.split(","))
    if len(wanted) != 2 or max(wanted) == 1.0:
        raise ConfigError(f"--with betas={value}: two numbers below 1, such as betas=0.9,0.95")

    def apply(site: Site) -> None:
        def new(_optimizer: Optimizer, _: int, own: Any) -> Any:
            return own if same(own, wanted) else wanted

        site.unused = "the script's own are the same"
        site.group("betas", new)

    return apply
