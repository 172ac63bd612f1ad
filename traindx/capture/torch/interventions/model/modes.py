"""Modes of modules, in training and in evaluation, and the dropout that depends on them."""

import weakref
from contextlib import AbstractContextManager, contextmanager, nullcontext

from traindx.capture.torch.alter.api import (
    Any,
    Apart,
    Callable,
    Change,
    Iterator,
    Pass,
    Script,
    Site,
    applies,
    functional,
    generator,
    script_of,
    torch,
)
from traindx.capture.torch.alter.rehearsal import is_compiled
from traindx.capture.torch.alter.swaps import AtCalls, drop_share


@applies("mode", unused="all models were in training mode when they were called with gradients on")
def mode(site: Site, _value: str) -> None:
    site.around_calls(mode_hook(site, gradients=True))


@applies("eval_mode", unused="all models were in evaluation mode when they were called with gradients off")
def eval_mode(site: Site, _value: str) -> None:
    site.around_calls(mode_hook(site, gradients=False))


def mode_hook(site: Site, gradients: bool) -> Callable[..., Any]:
    """A hook around calls of models: those with gradients on (off) are made in training (evaluation) mode."""
    losses = torch.nn.modules.loss._Loss  # have no mode

    def hook(call: Callable[..., Any], module: Any, *args: Any, **named: Any) -> Any:
        if torch.is_grad_enabled() is not gradients or isinstance(module, losses):
            return call(module, *args, **named)
        with switch_mode(module, gradients) as number:
            if number:
                site.touched("calls")
            return call(module, *args, **named)

    return hook


@contextmanager
def switch_mode(module: Any, training: bool) -> Iterator[int]:
    """Put all modules of one into a mode, and back again. Yields the number of those that were in the other."""
    others = [part for part in module.modules() if part.training is not training]
    for part in others:
        part.training = training
    try:
        yield len(others)
    finally:
        for part in others:
            part.training = not training


FUNCTIONS = ("dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout", "feature_alpha_dropout")
HIGHEST = 0.99


@applies("dropout")
def dropout(site: Site, wanted: Change) -> None:

    Dropout(site, script_of(site), wanted)
    none = (
        "no dropout was active"
        if wanted.relative or not wanted.number
        else "no hidden activation was found inside of what the script calls"
    )
    site.unused = "every dropout had that rate" if wanted.number == wanted.relative else none


class Dropout:
    """Wraps the functions that modules call, too; adds dropout to models that call none."""

    def __init__(self, site: Site, script: Script, wanted: Change) -> None:
        self.site, self.script, self.wanted = site, script, wanted
        self.apart, self.random = Apart("dropout"), generator("dropout masks")
        self.added: weakref.WeakKeyDictionary[torch.nn.Module, Any] = weakref.WeakKeyDictionary()
        self.change = drop_share(wanted.number, self.random)
        self.highest = 0.0  # rate that was put in the place of another
        site.at_end(self.tell)
        for name in FUNCTIONS:
            self.wrap(name, "p", 0.5)
        self.wrap("scaled_dot_product_attention", "dropout_p", 0.0)
        script.before_pass(site, self.look)
        script.around_pass(site, self.enter)

    def tell(self) -> None:
        """What the modules' own rates do not show."""
        if self.site.touches:
            self.site.fact("dropout", self.highest)
            self.site.fact("has_dropout", self.highest > 0)

    def rate(self, own: float) -> float:
        found = self.wanted.apply_to(own)
        if found > HIGHEST:
            self.site.refuse(f"a rate of {own:g} times {self.wanted.number:g} leaves nothing")
        return found

    def wrap(self, name: str, key: str, usual: float) -> None:
        """Another value of the argument `key` (at place 1 or 4) of a function of `torch.nn.functional`."""
        place = 4 if key == "dropout_p" else 1
        names = ("query", "key", "value", "attn_mask", key, "is_causal") if place == 4 else (
            "input", key, "training", "inplace")  # fmt: skip

        def around(original: Callable[..., Any], *args: Any, **named: Any) -> Any:
            given = {**dict(zip(names, args, strict=False)), **named}
            own = float(given.get(key, usual))
            active = given.get("training", name.endswith("dropout") is False or name == "dropout")
            if self.script.rehearsing or not active or (place == 4 and not own) or self.rate(own) == own:
                return original(*args, **named)
            self.site.touched("calls")
            return self.instead(original, given, key, own)

        self.site.wrap(functional, name, around)

    def instead(self, original: Callable[..., Any], given: dict[str, Any], key: str, own: float) -> Any:
        rate = self.rate(own)
        self.highest = max(self.highest, rate)
        if not own:  # there was none: its mask is ours
            with self.apart.here():
                return original(**{**given, key: rate})
        if not rate:  # a mask is drawn all the same: the script's random numbers go on as they would have
            with torch.no_grad():
                original(**{**given, **({"inplace": False} if "inplace" in given else {})})
        return original(**{**given, key: rate})

    def look(self, this: Pass) -> None:
        """Once for each model: its recurrent layers, and whether it has dropout at all."""
        if this.module in self.added or torch.is_inference_mode_enabled():
            return
        self.added[this.module] = set()
        if is_compiled(this) and self.set_modules(this.plain):
            return
        recurrent = [m for m in this.plain.modules() if isinstance(m, torch.nn.RNNBase) and m.num_layers > 1]
        for layer in recurrent:
            rate = self.rate(layer.dropout)
            if rate != layer.dropout:
                layer.dropout = rate
                self.highest = max(self.highest, rate)
                self.site.touched("recurrent layers")
        if (self.wanted.relative or not self.wanted.number) or recurrent:
            return
        calls, dropouts = self.script.rehearsal(self.site, this)
        hidden = {(c.key, c.turn) for c in calls if c.role == "hidden"}
        if hidden and not dropouts:
            self.added[this.module] = hidden
            self.highest = self.wanted.number
            self.site.touched("activations", len(hidden))

    def set_modules(self, model: torch.nn.Module) -> bool:
        """Of a compiled model the rates of the modules; whether there are any."""
        found = [m for m in model.modules() if isinstance(m, torch.nn.modules.dropout._DropoutNd)]
        for module in found:
            rate = self.rate(module.p)
            if rate != module.p:
                module.p, self.highest = rate, max(self.highest, rate)
                self.site.touched("modules")
        return bool(found)

    def enter(self, this: Pass) -> AbstractContextManager[Any]:
        wanted = self.added.get(this.module)
        return (
            AtCalls(wanted, self.change)
            if wanted and this.training and this.module.training
            else nullcontext()
        )
