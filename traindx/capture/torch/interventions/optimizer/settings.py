"""Settings of the optimizer other than the learning rate, set for the duration of each step."""

from __future__ import annotations

from typing import Any

from traindx.capture.experiment.applies import applies
from traindx.capture.interventions.values import Change
from traindx.capture.torch.experiment.settings import Optimizer, same
from traindx.capture.torch.experiment.site import Site


@applies("momentum")
def momentum(site: Site, wanted: float) -> None:
    set_to(site, "momentum", wanted)


@applies("betas")
def betas(site: Site, wanted: tuple[float, ...]) -> None:
    set_to(site, "betas", wanted)


@applies("eps")
def eps(site: Site, wanted: float) -> None:
    set_to(site, "eps", wanted)


def set_to(site: Site, key: str, wanted: Any) -> None:
    # An equal value stays the script's own object, which may be a tensor or a list.
    site.group(key, lambda _optimizer, _group, own: own if same(own, wanted) else wanted)
    site.unused = "the script already uses this value"


@applies("weight_decay")
def weight_decay(site: Site, wanted: Change) -> None:
    def new(optimizer: Optimizer, _: int, own: Any) -> Any:
        if wanted.relative:
            return own * wanted.number
        exempt = not own and any(group.get("weight_decay") for group in optimizer.param_groups)
        return own if exempt or own == wanted.number else wanted.number

    site.unused = "the script already uses this value"
    if wanted.relative and wanted.number != 1:
        site.unused = "the script has no weight decay"
    site.group("weight_decay", new)
