"""Calls of PyTorch's loss functions, which interventions may change: inputs, targets, options, value."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import torch

from traindx.capture.discover_loss import FUNCTIONS
from traindx.capture.launch_patch import Patches

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
    target apart. `value` is set when it is known; what is to be done to it stands in `after`."""

    name: str
    input: Any
    target: Any
    options: dict[str, Any]
    rest: tuple[Any, ...]  # positional arguments that have no name here
    training: bool
    after: list[Callable[[Any], Any]] = field(default_factory=list)

    def compute(self, originals: dict[str, Callable[..., Any]], **instead: Any) -> Any:
        """The value of the function called, with some arguments replaced."""
        input, target = instead.pop("input", self.input), instead.pop("target", self.target)
        return originals[self.name](input, target, *self.rest, **{**self.options, **instead})


class LossCalls:
    """Calls each of `changes` in order on each outermost call of a loss function with two tensors."""

    def __init__(self, patches: Patches, training: Callable[[], bool]) -> None:
        self.changes: list[Callable[[LossCall], None]] = []
        self.originals: dict[str, Callable[..., Any]] = {}
        self.training, self.inside = training, False
        self.calls = self.training_calls = 0
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
        self.calls += 1
        self.training_calls += training
        return LossCall(name, input, target, options, args[len(names) :], training)

    def changed(self, call: LossCall) -> Any:
        for change in self.changes:
            change(call)
        value = call.compute(self.originals)
        for alter in call.after:
            value = alter(value)
        return value
