"""Single precision or bfloat16 instead of half precision."""

from traindx.capture.torch.alter.api import Any, Callable, Site, applies, torch


@applies("precision")
def precision(site: Site, wanted: str) -> None:

    change = Precision(site, getattr(torch, wanted))
    site.wrap(torch.amp.autocast_mode.autocast, "__init__", change.autocast)
    site.wrap(torch.amp.grad_scaler.GradScaler, "__init__", change.scaler)
    for name in ("half", "bfloat16", "to"):
        site.wrap(torch.nn.Module, name, getattr(change, name))
    site.around_calls(change.call)
    site.unused = f"the script computes in {wanted} already"


class Precision:
    """Whatever asks for half precision gets `wanted`."""

    def __init__(self, site: Site, wanted: Any) -> None:
        self.site, self.wanted, self.single = site, wanted, wanted is torch.float32
        self.half_types = (torch.float16, torch.bfloat16) if self.single else (torch.float16,)
        self.own = False  # our own autocast is being made
        self.converted = False

    def autocast(self, original: Callable[..., Any], cast: Any, *args: Any, **named: Any) -> None:
        original(cast, *args, **named)
        if self.own or not cast._enabled or cast.fast_dtype not in self.half_types:
            return
        if self.single:
            cast._enabled = False
        else:
            cast.fast_dtype = self.wanted
        self.site.touched("regions of autocast")

    def scaler(self, original: Callable[..., Any], scaler: Any, *args: Any, **named: Any) -> None:
        original(scaler, *args, **named)
        if self.single and scaler._enabled:
            scaler._enabled = False
            self.site.touched("scalers")

    def half(self, original: Callable[..., Any], module: Any) -> Any:
        self.converted = True
        self.site.touched("models")
        return module if self.single else module.bfloat16()

    def bfloat16(self, original: Callable[..., Any], module: Any) -> Any:
        if not self.single:
            return original(module)
        self.converted = True
        self.site.touched("models")
        return module

    def to(self, original: Callable[..., Any], module: Any, *args: Any, **named: Any) -> Any:
        if any(given in self.half_types for given in [*args, *named.values()] if is_dtype(given)):
            self.converted = True
            self.site.touched("models")
            args = tuple(self.instead(given) for given in args)
            named = {name: self.instead(given) for name, given in named.items()}
        return original(module, *args, **named)

    def instead(self, given: Any) -> Any:
        return self.wanted if is_dtype(given) and given in self.half_types else given

    def call(self, call: Callable[..., Any], module: Any, *args: Any, **named: Any) -> Any:
        if self.converted:
            args, named = self.cast(args, self.half_types), self.cast(named, self.half_types)
        first = next((p for p in module.parameters() if p.is_floating_point()), None)
        if self.single or first is None or first.dtype is not torch.float32:
            return call(module, *args, **named)
        if torch.is_autocast_enabled(first.device.type):
            return call(module, *args, **named)
        self.own = True
        try:
            region = torch.autocast(first.device.type, dtype=self.wanted)
        finally:
            self.own = False
        with region:
            found = call(module, *args, **named)
        self.site.touched("calls")
        return self.cast(found, (self.wanted,), torch.float32)

    def cast(self, found: Any, types: tuple[Any, ...], to: Any = None) -> Any:
        """Convert tensors of some types, in nested tuples, lists and dicts, to another."""
        if isinstance(found, torch.Tensor):
            return found.to(to or self.wanted) if found.dtype in types else found
        if type(found) is dict:
            return {name: self.cast(part, types, to) for name, part in found.items()}
        if type(found) in (tuple, list):
            return type(found)(self.cast(part, types, to) for part in found)
        return found


def is_dtype(given: Any) -> bool:
    return isinstance(given, torch.dtype)
