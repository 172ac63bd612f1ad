"""Computes a model's pass once beforehand, without leaving a trace."""

from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch.nn.parameter import is_lazy

from traindx.capture.torch.alter.activations import Call, Spy, classify
from traindx.capture.torch.alter.calls import Pass
from traindx.capture.torch.alter.loaders import rebuilt
from traindx.capture.torch.alter.random_state import preserve_random_state
from traindx.capture.torch.hooks import CALLS
from traindx.errors import ConfigError


class CannotRehearse(ConfigError):
    """Why a model's pass cannot be computed beforehand."""


def rehearse(this: Pass) -> tuple[list[Call], int]:
    """The activation calls of a pass with their roles, and how often a dropout function was called.

    Random state, buffers and whatever else the modules keep are put back. Raises CannotRehearse."""
    model = this.plain
    if any(is_lazy(p) for p in model.parameters()):
        raise CannotRehearse("its layers get their shapes in the first pass")
    if is_compiled(this):
        raise CannotRehearse("it is compiled")
    if torch.is_inference_mode_enabled():
        raise CannotRehearse("it is called in inference mode")

    def copied(_: Any, tensor: torch.Tensor) -> torch.Tensor:
        return tensor.detach().clone().requires_grad_(tensor.requires_grad)

    args, named = rebuilt(this.args, copied), rebuilt(this.named, copied)
    spy = Spy(model)
    with preserve_random_state(), restoring_state(model), torch.enable_grad():
        try:
            with spy:
                found = model.forward(*args, **named)
        except Exception as error:  # a model may refuse to be called twice, or this way
            raise CannotRehearse(
                f"a trial pass failed ({type(error).__name__}: {str(error)[:200]})"
            ) from error
        classify(spy.calls, found)
    return spy.calls, spy.dropouts


def is_compiled(this: Pass) -> bool:
    return hasattr(this.module, "_orig_mod") or getattr(this.plain, "_compiled_call_impl", None) is not None


@contextmanager
def restoring_state(model: torch.nn.Module) -> Iterator[None]:
    """Restore what the modules keep, except the values of their parameters."""
    own = [(module, dict(vars(module)), contents(module)) for module in model.modules()]
    values = [(buffer, buffer.detach().clone()) for buffer in model.buffers()]
    try:
        with CALLS.ignored():
            yield
    finally:
        for module, before, inner in own:
            vars(module).clear()
            vars(module).update(before)
            for held, copy in inner:
                refill(held, copy)
        with torch.no_grad():
            for buffer, value in values:
                buffer.copy_(value)


def contents(module: torch.nn.Module) -> list[tuple[Any, Any]]:
    """Lists, dicts and sets that a module holds (its buffers are in one), each with a copy."""
    return [
        (held, type(held)(held))
        for held in vars(module).values()
        if type(held) in (list, dict, set, OrderedDict)
    ]


def refill(held: Any, copy: Any) -> None:
    if isinstance(held, list):
        held[:] = copy
    else:
        held.clear()
        held.update(copy)
