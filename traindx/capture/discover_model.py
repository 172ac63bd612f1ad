"""Finds the root modules: the outermost modules called whose parameters an optimizer holds."""

from __future__ import annotations

import gc
import weakref
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from traindx.capture.discover import Discovery

LISTED = 60  # modules in the fact `modules`
WRAPPERS = ("DistributedDataParallel", "FullyShardedDataParallel", "DataParallel")


class Models:
    """Watches every module call until the roots are known, then only the roots."""

    def __init__(self, discovery: Discovery) -> None:
        self.discovery = discovery
        self.wanted: set[int] = set()  # ids of trained parameters whose module is not known yet
        self.passed: set[int] = set()  # ids of modules that hold none of them
        self.roots: list[weakref.ref[torch.nn.Module]] = []
        self.handle: Any = None
        self.calls: list[Any] = []  # handles of the hooks on the roots
        self.blocked = False
        self.trained_mode = False  # a root was seen in training mode
        self.training = True  # whether the last call of a root was part of training
        self.fed = 0  # calls of roots in training since the last step

    def attach(self) -> None:
        """Nothing to do before there is something to look for."""

    def detach(self) -> None:
        self.disarm()
        for handle in self.calls:
            handle.remove()
        self.calls.clear()

    def want(self, parameters: Any) -> None:
        """Look for the module of these parameters."""
        self.wanted |= {id(p) for p in parameters}
        if self.handle is None and not self.blocked and self.wanted:
            self.passed.clear()
            register = torch.nn.modules.module.register_module_forward_pre_hook
            self.handle = register(lambda module, inputs: self.discovery.safely(self.seen, module, inputs))

    def disarm(self) -> None:
        if self.handle is not None:
            self.handle.remove()
            self.handle = None

    def block(self) -> None:
        """A compiled function would compile the hook, too: no more looking from inside of calls."""
        self.blocked = True
        self.disarm()

    def seen(self, module: torch.nn.Module, inputs: tuple[Any, ...]) -> None:
        """A module is about to be called; outer ones come first."""
        if id(module) in self.passed or torch.compiler.is_compiling():
            return
        if any(id(p) in self.wanted for p in module.parameters()):
            self.found(module)
            self.entered(module, inputs, {})
        self.passed.add(id(module))
        if not self.wanted:
            self.disarm()

    def found(self, module: torch.nn.Module) -> None:
        session = self.discovery.session()
        if session is None or any(root() is module for root in self.roots):
            return
        self.wanted -= {id(p) for p in module.parameters()}
        self.roots.append(weakref.ref(module))
        plain = unwrapped(module)
        session.add_model(plain, name="" if len(self.roots) == 1 else type(plain).__name__.lower())
        self.describe(module, plain)

        def entered(module: torch.nn.Module, inputs: Any, named: Any) -> None:
            self.discovery.safely(self.entered, module, inputs, named)

        self.calls.append(module.register_forward_pre_hook(entered, with_kwargs=True))

    def search(self) -> None:
        """A step is due and some parameters' module was never called as a whole: look among all
        modules that are alive, and take the largest."""
        self.disarm()
        if not self.wanted:
            return
        alive = [m for m in gc.get_objects() if isinstance(m, torch.nn.Module)]
        holding = [m for m in alive if any(id(p) in self.wanted for p in m.parameters())]
        inner = {id(child) for m in holding for child in m.modules() if child is not m}
        for module in holding:
            if id(module) not in inner and self.wanted:
                self.found(module)
        self.wanted.clear()

    def entered(self, module: torch.nn.Module, inputs: tuple[Any, ...], named: dict[str, Any]) -> None:
        """A root is called: say with what, and whether this is part of training."""
        grad = torch.is_grad_enabled()
        self.trained_mode |= grad and module.training
        self.training = grad and (module.training or not self.trained_mode)
        self.discovery.losses.model_called(self.training)
        if self.training:
            self.fed += 1
            if self.fed > 1 and len(self.roots) > 1:  # the batch is what the first model of a step gets
                return
            self.precision()
        session = self.discovery.session()
        if session is not None:
            session.batch(inputs if inputs else named, training=self.training)

    def precision(self) -> None:
        kinds = [kind for kind in ("cuda", "cpu") if torch.is_autocast_enabled(kind)]
        if kinds:
            short = {"torch.bfloat16": "bf16-mixed", "torch.float16": "fp16-mixed"}
            dtype = str(torch.get_autocast_dtype(kinds[0]))
            self.discovery.fact("precision", short.get(dtype, dtype.removeprefix("torch.")))

    def describe(self, module: torch.nn.Module, plain: torch.nn.Module) -> None:
        """Facts of a root, the first under plain names."""
        parameters = list(plain.parameters())
        prefix = "" if len(self.roots) == 1 else f"model/{len(self.roots)}/"
        fact = self.discovery.fact
        fact(f"{prefix}model", type(plain).__name__)
        fact(f"{prefix}parameters", sum(p.numel() for p in parameters))
        fact(f"{prefix}trainable", sum(p.numel() for p in parameters if p.requires_grad))
        fact(f"{prefix}modules", tree(plain))
        if parameters:
            fact(f"{prefix}device", parameters[0].device.type)
            if "precision" not in self.discovery.known:
                dtype = str(parameters[0].dtype).removeprefix("torch.")
                fact("precision", {"float32": "fp32", "bfloat16": "bf16", "float16": "fp16"}.get(dtype, dtype))
        for wrapper in WRAPPERS:
            if type(module).__name__ == wrapper:
                fact("wrapper", wrapper)
        rates = [m.p for m in plain.modules() if type(m).__name__.startswith("Dropout")]
        if rates and isinstance(rates[0], int | float):
            fact(f"{prefix}dropout", float(max(rates)))


def unwrapped(module: torch.nn.Module) -> torch.nn.Module:
    """The model that a data-parallel wrapper or `torch.compile` holds."""
    while True:
        name = "module" if type(module).__name__ in WRAPPERS else "_orig_mod"
        inner = module._modules.get(name)
        if inner is None:
            return module
        module = inner


def tree(module: torch.nn.Module) -> str:
    """The leaves of a model by name and class, in one line: `0 Linear, 1 ReLU, ...`."""
    leaves = [f"{name} {type(m).__name__}" for name, m in module.named_modules() if not m._modules and name]
    more = f", and {len(leaves) - LISTED} more" if len(leaves) > LISTED else ""
    return ", ".join(leaves[:LISTED]) + more
