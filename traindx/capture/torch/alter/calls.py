"""Passes of the script's models and calls of PyTorch's loss functions, which interventions may change on the
way in and on the way out: inputs, targets, options, value."""

import inspect
import weakref
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import torch

from traindx.capture.process.patches import Patches
from traindx.capture.torch.discover.losses import FUNCTIONS
from traindx.capture.torch.discover.models import largest, unwrap_model


@dataclass
class Pass:
    """One call of a model: `args` and `named` may be replaced. `training` as the capture understands it:
    gradients on, and the model not in evaluation mode (unless it never was in another)."""

    module: torch.nn.Module
    args: tuple[Any, ...]
    named: dict[str, Any]
    training: bool
    number: int  # of this model, from 0

    @property
    def plain(self) -> torch.nn.Module:
        """The model without data-parallel wrappers and `torch.compile`."""
        return unwrap_model(self.module)


Before = Callable[[Pass], None]
Around = Callable[[Pass], AbstractContextManager[Any]]
After = Callable[[Pass, Any], Any]


class Passes:
    """A model is an outermost module that is called and has trainable parameters. Calls `before` in order,
    enters each of `around`, calls `after` with what came out.

    Runs inside the hooks around calls that a site has, because those may change the model's mode."""

    def __init__(self) -> None:
        self.before: list[Before] = []
        self.around: list[Around] = []
        self.after: list[After] = []
        self.counts: weakref.WeakKeyDictionary[torch.nn.Module, int] = weakref.WeakKeyDictionary()
        self.optimizers: weakref.WeakSet[torch.optim.Optimizer] = weakref.WeakSet()
        self.trained_mode = self.training = False
        self.switched = False  # some module was put into evaluation mode
        self.inside = False

    def wrap(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """To take the place of `torch.nn.Module.__call__`."""
        passes = self

        def __call__(self: torch.nn.Module, *args: Any, **named: Any) -> Any:
            if passes.inside or torch.compiler.is_compiling() or not passes.is_model(self):
                return original(self, *args, **named)
            passes.inside = True
            try:
                return passes.called(original, self, args, named)
            finally:
                passes.inside = False

        return __call__

    def called(self, call: Callable[..., Any], module: torch.nn.Module, args: Any, named: Any) -> Any:
        grad = torch.is_grad_enabled()
        self.trained_mode |= grad and module.training
        self.training = grad and (module.training or not self.trained_mode)
        this = Pass(module, args, named, self.training, self.counts[module])
        self.counts[module] += 1
        for change in self.before:
            change(this)
        with ExitStack() as stack:
            for enter in self.around:
                stack.enter_context(enter(this))
            found = call(module, *this.args, **this.named)
        for alter in self.after:
            found = alter(this, found)
        return found

    def is_model(self, module: torch.nn.Module) -> bool:
        if module not in self.counts:
            if not any(p.requires_grad for p in module.parameters()):
                return False
            self.counts[module] = 0
        return True

    def trains_now(self) -> bool:
        """Whether what the script does now looks like training: gradients on, and not every model in
        evaluation mode."""
        if not torch.is_grad_enabled():
            return False
        if not self.counts and not self.switched:
            return True
        models = list(self.counts) or self.uncalled_models()
        return not models or any(m.training for m in models)

    def uncalled_models(self) -> list[torch.nn.Module]:
        """Models that were not called yet: those that hold what an optimizer has, or what could be trained."""
        held = {
            id(p)
            for optimizer in self.optimizers
            for group in optimizer.param_groups
            for p in group["params"]
        }
        return largest(lambda m: any(id(p) in held if held else p.requires_grad for p in m.parameters()))


# Where these are among the positional arguments; what is not named here is passed on unchanged.
POSITIONS = {
    "cross_entropy": ("input", "target", "weight", "size_average", "ignore_index", "reduce", "reduction",
                      "label_smoothing"),
    "nll_loss": ("input", "target", "weight", "size_average", "ignore_index", "reduce", "reduction"),
    "binary_cross_entropy": ("input", "target", "weight", "size_average", "reduce", "reduction"),
    "binary_cross_entropy_with_logits": ("input", "target", "weight", "size_average", "reduce", "reduction",
                                         "pos_weight"),
}  # fmt: skip


@dataclass
class LossCall:
    """One call: `name` of the function that will be called, `options` all arguments by name, input and
    target apart; `after` what is to be done to its value."""

    name: str
    input: Any
    target: Any
    options: dict[str, Any]
    rest: tuple[Any, ...]  # positional arguments that have no name here
    training: bool
    after: list[Callable[[Any], Any]] = field(default_factory=list)

    def compute(self, originals: dict[str, Callable[..., Any]]) -> Any:
        """The value of the function called."""
        return originals[self.name](self.input, self.target, *self.rest, **self.options)

    def unseen(self, originals: dict[str, Callable[..., Any]], input: Any, target: Any) -> Any:
        """The value for other arguments, computed without telling the capture."""
        return inspect.unwrap(originals[self.name])(input, target, *self.rest, **self.options)


class LossCalls:
    """Calls each of `changes` in order on each outermost call of a loss function with two tensors."""

    def __init__(self, patches: Patches, training: Callable[[], bool]) -> None:
        self.changes: list[tuple[int, Callable[[LossCall], None]]] = []
        self.originals: dict[str, Callable[..., Any]] = {}
        self.training, self.inside = training, False
        self.trained: dict[str, int] = {}  # function -> calls in training
        for name in FUNCTIONS:
            patches.replace(torch.nn.functional, name, partial(self.wrap, name))

    def wrap(self, name: str, original: Callable[..., Any]) -> Callable[..., Any]:
        losses = self
        self.originals[name] = original

        def loss(*args: Any, **named: Any) -> Any:
            if losses.inside or torch.compiler.is_compiling():
                return original(*args, **named)
            call = losses.parse(name, args, named)
            if call is None:
                return original(*args, **named)
            losses.inside = True
            try:
                return losses.changed(call)
            finally:
                losses.inside = False

        return loss

    def parse(self, name: str, args: tuple[Any, ...], named: dict[str, Any]) -> LossCall | None:
        """The call in parts; None where it is not one of an input and a target."""
        names = POSITIONS.get(name, ("input", "target"))
        options = {**dict(zip(names, args, strict=False)), **named}
        input, target = options.pop("input", None), options.pop("target", None)
        if not isinstance(input, torch.Tensor) or not isinstance(target, torch.Tensor):
            return None
        training = torch.is_grad_enabled() and input.requires_grad and self.training()
        if training:
            self.trained[name] = self.trained.get(name, 0) + 1
        return LossCall(name, input, target, options, args[len(names) :], training)

    def changed(self, call: LossCall) -> Any:
        for _, change in self.changes:
            change(call)
        value = call.compute(self.originals)
        for alter in call.after:
            value = alter(value)
        return value
