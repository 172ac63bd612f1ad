"""Hidden activations are computed by another function, or have dropout behind them."""

import sys
from collections import Counter, defaultdict
from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch.overrides import TorchFunctionMode

from traindx.capture.torch.alter.activations import KINDS, SATURATING, Call, Key, in_place, key_of
from traindx.capture.torch.hooks import CALLS

SWAPPED = (nn.Sigmoid, nn.Tanh, nn.Hardtanh, nn.Hardsigmoid, nn.Softsign, nn.ReLU, nn.ReLU6)
MODULES = {"relu": nn.ReLU, "gelu": nn.GELU, "leaky_relu": nn.LeakyReLU}
Function = Callable[[torch.Tensor], torch.Tensor]
FUNCTIONS: dict[str, Function] = {
    "relu": nn.functional.relu,
    "gelu": nn.functional.gelu,
    "leaky_relu": nn.functional.leaky_relu,
}
RECTIFIERS = ("relu", "relu6")


def calls_to_swap(calls: list[Call], into: str) -> set[tuple[Key, int]]:
    """The hidden calls that are to be replaced: saturating ones, and rectifiers by what cannot die."""
    kinds = SATURATING if into == "relu" else (*SATURATING, *RECTIFIERS)
    return {(call.key, call.turn) for call in calls if call.role == "hidden" and call.kind in kinds}


def exchange(model: nn.Module, calls: list[Call], wanted: set[tuple[Key, int]], into: str) -> int:
    """Put other modules in the place of those activation modules of which all calls are wanted, so that they
    are measured as what they are; the calls are those of the new modules then. How many."""
    by_module: dict[int, list[Call]] = defaultdict(list)
    for call in calls:
        if type(call.module) in SWAPPED:
            by_module[id(call.module)].append(call)
    new: dict[int, nn.Module] = {}
    for same in by_module.values():
        old = same[0].module
        if old is None or not all((call.key, call.turn) in wanted for call in same):
            continue
        made = MODULES[into]() if into == "gelu" else MODULES[into](inplace=getattr(old, "inplace", False))
        made.train(old.training)
        made._forward_hooks, made._forward_pre_hooks = old._forward_hooks, old._forward_pre_hooks
        CALLS.move(old, made)
        new[id(old)] = made
        wanted.difference_update((call.key, call.turn) for call in same)
        for call in same:
            call.key, call.kind, call.module = (id(made), *call.key[1:]), into, made
    for parent in model.modules():
        for name, child in parent._modules.items():
            if id(child) in new:
                parent._modules[name] = new[id(child)]
    return len(new)


class AtCalls(TorchFunctionMode):  # type: ignore[misc]
    """During one pass: `change(original, args, named)` instead of each of the activation calls `wanted`."""

    def __init__(self, wanted: set[tuple[Key, int]], change: Callable[[Any, Any, Any], Any]) -> None:
        super().__init__()
        self.wanted, self.change = wanted, change
        self.turns: Counter[Key] = Counter()

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        named = kwargs or {}
        if func not in KINDS:
            return func(*args, **named)
        key, _ = key_of(sys._getframe(1))
        turn = self.turns[key]
        self.turns[key] += 1
        if (key, turn) not in self.wanted:
            return func(*args, **named)
        return self.change(func, args, named)


def compute_instead(function: Function) -> Callable[[Any, Any, Any], Any]:
    """The change that computes another function; in place where the original does."""

    def change(func: Any, args: Any, named: Any) -> Any:
        given = args[0] if args else named["input"]
        if not in_place(func, args, named):
            return function(given)
        return given.copy_(function(given.clone()))

    return change


def drop_share(share: float, random: torch.Generator) -> Callable[[Any, Any, Any], Any]:
    """The change that sets a share of the result to zero and scales the rest; the mask is drawn on the
    host, from a generator of our own."""

    def change(func: Any, args: Any, named: Any) -> Any:
        found = func(*args, **named)
        mask = torch.empty(found.shape).bernoulli_(1 - share, generator=random)
        return found * (mask / (1 - share)).to(found)

    return change
