"""Quantization-aware training without its quantization, for all or the first of its steps."""

from __future__ import annotations

from typing import Any

from torch.nn import functional

from traindx.capture.experiment.applies import applies
from traindx.capture.interventions.values import Span
from traindx.capture.torch.alter.unquantized import FUNCTIONS, Kept, instead
from traindx.capture.torch.experiment.settings import Optimizer
from traindx.capture.torch.experiment.site import Site


@applies("quant")
def quant(site: Site, _value: str) -> None:
    undo_quantization(site, None)


@applies("quant.start")
def quant_start(site: Site, begins: Span) -> None:
    undo_quantization(site, begins)


def undo_quantization(site: Site, begins: Span | None) -> None:
    """Weights and activations are used at full precision for the first steps, or (None) in all of them."""
    # Only here: importing torch.ao costs a second that other interventions need not pay.
    from torch.ao.quantization import fake_quantize

    kept, until = Kept(), Until(site, begins)

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
    """Whether quantization is still `off`."""

    def __init__(self, site: Site, begins: Span | None) -> None:
        self.site, self.begins = site, begins
        self.off = begins is None or begins.steps != 0
        if begins is not None:
            site.around_step(lambda optimizer: None, self.stepped)

    def stepped(self, optimizer: Optimizer) -> None:
        """After a step of any optimizer."""
        assert self.begins is not None
        steps = self.site.resolve(self.begins, "quant.start=200")
        self.off = self.off and self.site.step(optimizer) + 1 < steps
