"""Quantized layers: when their weights are used rounded, and the learning rate of them alone."""

from itertools import groupby

from traindx.capture.torch.alter.api import (
    Any,
    Change,
    Optimizer,
    Site,
    Span,
    applies,
    functional,
    parameters_of,
)
from traindx.capture.torch.alter.unquantized import FUNCTIONS, Kept, call_unquantized


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
        own = kept.parameter_behind(args[1] if len(args) > 1 else named.get("weight")) if until.off else None
        if own is None:
            return original(*args, **named)
        site.touched("weights")
        return call_unquantized(original, own, args, named)

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


Groups = list[dict[str, Any]]


@applies("lr.quantized", unused="no weight was used quantized")
def quantized(site: Site, wanted: Change) -> None:

    kept, layers = Kept(), Layers(site)

    def hook(original: Any, *args: Any, **named: Any) -> Any:
        kept.parameter_behind(args[1] if len(args) > 1 else named.get("weight"))
        return original(*args, **named)

    for name in FUNCTIONS:
        site.wrap(functional, name, hook)
    parted = Parted(site, wanted.number)
    site.around_step(lambda optimizer: parted.enter(optimizer, layers.ids_of(kept.parameters)), parted.leave)


class Layers:
    """Which parameters belong to the layers of some weights."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.known = 0
        self.ids: set[int] = set()

    def ids_of(self, weights: list[Any]) -> set[int]:
        """Ids of the weights and of all that the modules hold that own them; of a model itself its weights alone."""
        if len(weights) != self.known:
            self.known, wanted = len(weights), {id(w) for w in weights}
            self.ids = set(wanted)
            for root in (reference() for reference in self.site.hooks.stream.scene.roots):
                for module in () if root is None else root.children():
                    self.add(module, wanted)
        return self.ids

    def add(self, module: Any, wanted: set[int]) -> None:
        """The innermost modules that hold a weight; what parametrizes it is part of its module."""
        if not any(id(p) in wanted for p in module.parameters()):
            return
        inner = [child for name, child in module.named_children() if name != "parametrizations"]
        held = [child for child in inner if any(id(p) in wanted for p in child.parameters())]
        for child in held:
            self.add(child, wanted)
        if not held:
            self.ids |= {id(p) for p in module.parameters()}


class Parted:
    """The groups of an optimizer, split where quantized layers begin and end: the order of parameters is kept."""

    def __init__(self, site: Site, factor: float) -> None:
        self.site, self.factor = site, factor
        self.saved: dict[int, tuple[Groups, list[tuple[dict[str, Any], Any, Any]]]] = {}

    def enter(self, optimizer: Optimizer, chosen: set[int]) -> None:
        self.leave(optimizer)  # a step that raised has not called it
        if not any(id(p) in chosen for p in parameters_of(optimizer)):
            return
        if "LBFGS" in type(optimizer).__name__:
            self.site.refuse("LBFGS has one rate for all parameters")
        made: Groups = []
        saved: list[tuple[dict[str, Any], Any, Any]] = []
        for group in optimizer.param_groups:
            if "lr" not in group:
                self.site.refuse(f"{type(optimizer).__name__} has no lr")
            parts = [(slow, list(p)) for slow, p in groupby(group["params"], key=lambda p: id(p) in chosen)]
            saved.append((group, group["params"], group["lr"]))
            for i, (slow, parameters) in enumerate(parts):
                part = group if i == 0 else {**group, "lr": saved[-1][2]}
                part["params"] = parameters
                part["lr"] = part["lr"] * self.factor if slow else part["lr"]
                made.append(part)
            made += [] if parts else [group]
        self.saved[id(optimizer)] = optimizer.param_groups, saved
        optimizer.param_groups = made
        if self.factor != 1:
            self.site.touched("steps")

    def leave(self, optimizer: Optimizer) -> None:
        """The script's groups, as they were."""
        groups, saved = self.saved.pop(id(optimizer), (None, ()))
        for group, parameters, rate in saved:
            group["params"], group["lr"] = parameters, rate
        if groups is not None:
            optimizer.param_groups = groups
