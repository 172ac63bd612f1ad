"""Quantization-aware training without its quantization, for all or the first of its steps."""

from __future__ import annotations

from typing import Any

from traindx.capture.experiment.kinds import Apply, intervention
from traindx.capture.experiment.values import number, one_of, whole
from traindx.capture.torch.experiment.settings import Optimizer
from traindx.capture.torch.experiment.site import Site
from traindx.errors import ConfigError

LATER = 0.5  # of the steps


@intervention("quant", stage="forward", values=("off",))
def quant(value: str) -> Apply:
    """`off`: weights that are used quantized are used as they are kept, and `torch.ao`'s fake-quantize modules pass
    everything on. However that is written: what `F.linear` and convolutions are called with is looked at, and
    exchanged for the parameter that it was computed from, where its values lie on few levels and the parameter's do
    not. Activations that the script rounds itself stay rounded. What is better then was lost by quantization."""
    one_of(value, "quant", ("off",))
    return lambda site: unquantized(site, None)


@intervention("quant.start", stage="forward", values=("later", "200"))
def start(value: str) -> Apply:
    """Quantization begins after so many steps (below 1: after that share of all steps, `later`: after half), and is
    the script's own from then on; see `quant`. A share needs the number of steps: from `--steps`, or from a schedule
    that is told its length. To begin earlier than the script does is a change of the script."""
    if value == "earlier":
        raise ConfigError(
            "--with quant.start=earlier: cannot be done from outside of a script: change it there"
        )
    share = LATER if value == "later" else number(value, "quant.start")
    given = None if 0 < share < 1 else whole(value, "quant.start", low=0)

    def apply(site: Site) -> None:
        unquantized(site, given, share)

    return apply


def unquantized(site: Site, steps: int | None, share: float = 1.0) -> None:
    """Until a step, or for ever (`share` 1 and no step)."""
    from torch.ao.quantization import fake_quantize
    from torch.nn import functional

    from traindx.capture.torch.alter.unquantized import FUNCTIONS, Kept, instead

    kept, until = Kept(), Until(site, steps, share)

    def hook(original: Any, *args: Any, **named: Any) -> Any:
        own = kept.own(args[1] if len(args) > 1 else named.get("weight")) if until.off else None
        if own is None:
            return original(*args, **named)
        site.touched("weights")
        return instead(original, own, args, named)

    def passed(original: Any, module: Any, given: Any) -> Any:
        made = original(module, given)
        if not until.off or not bool(module.fake_quant_enabled[0]):
            return made
        site.touched("activations")
        return given

    for name in FUNCTIONS:
        site.wrap(functional, name, hook)
    for kind in (fake_quantize.FakeQuantize, fake_quantize.FusedMovingAvgObsFakeQuantize):
        site.wrap(kind, "forward", passed)
    site.unused = "no weight was used quantized"


class Until:
    """Whether quantization is `off` still."""

    def __init__(self, site: Site, steps: int | None, share: float) -> None:
        self.site, self.steps, self.share = site, steps, share
        self.off = steps != 0
        if steps is not None or share < 1:
            site.around_step(lambda optimizer: None, self.stepped)

    def stepped(self, optimizer: Optimizer) -> None:
        """After a step of any optimizer."""
        if self.steps is None:
            planned = self.site.planned()
            if planned is None:
                self.site.refuse("the number of steps is not known: quant.start=200, or --steps")
            self.steps = round(self.share * planned)
        self.off = self.off and self.site.step(optimizer) + 1 < self.steps
