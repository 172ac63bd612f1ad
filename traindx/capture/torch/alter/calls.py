"""Passes of the script's models, which interventions may change on the way in and on the way out."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from typing import Any

import torch

from traindx.capture.torch.discover.models import largest, unwrapped


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
        return unwrapped(self.module)


Before = Callable[[Pass], None]
Around = Callable[[Pass], AbstractContextManager[Any]]
After = Callable[[Pass, Any], Any]


class Passes:
    """A model is an outermost module that is called and has trainable parameters. Calls `before` in order,
    enters each of `around`, calls `after` with what came out.

    Stands inside of the hooks around calls that a site has: those may change the model's mode."""

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
        models = list(self.counts) or self.found()
        return not models or any(m.training for m in models)

    def found(self) -> list[torch.nn.Module]:
        """Models that were not called yet: those that hold what an optimizer has, or what could be trained."""
        held = {
            id(p)
            for optimizer in self.optimizers
            for group in optimizer.param_groups
            for p in group["params"]
        }
        return largest(lambda m: any(id(p) in held if held else p.requires_grad for p in m.parameters()))
