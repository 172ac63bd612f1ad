"""Calls of PyTorch's loss functions, which interventions may change: inputs, targets, options, value."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import torch

from traindx.capture.process.patches import Patches
from traindx.capture.torch.discover.losses import FUNCTIONS

# Where these stand among the positional arguments; what is not named here is passed on as it was given.
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
            call = losses.taken(name, args, named)
            if call is None:
                return original(*args, **named)
            losses.inside = True
            try:
                return losses.changed(call)
            finally:
                losses.inside = False

        return loss

    def taken(self, name: str, args: tuple[Any, ...], named: dict[str, Any]) -> LossCall | None:
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
