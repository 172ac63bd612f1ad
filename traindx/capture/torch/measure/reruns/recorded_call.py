"""A training call of a model that is to be made again later, without anything being kept alive for it."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import nn
from torch.nn.modules import module as every_module

PLAIN = (type(None), bool, int, float, complex, str, bytes, torch.dtype, torch.device, torch.Size)

Whole = tuple[nn.Module, Any, dict[str, Any]]


class Call(NamedTuple):
    """The model and what is no tensor are referred to weakly; tensors are others that share the batch's memory."""

    model: weakref.ref[nn.Module]
    args: Any
    kwargs: dict[str, Any]

    def whole(self) -> Whole | None:
        """The model and its arguments; None where the script has let one of them go."""
        model = self.model()
        try:
            return None if model is None else (model, restored(self.args), restored(self.kwargs))
        except LookupError:
            return None


def call_of(model: nn.Module, args: Any, kwargs: Any, gone: Callable[[Any], None] | None = None) -> Call:
    """A call that is just being made."""
    return Call(weakref.ref(model, gone), aliased(args), aliased(dict(kwargs or {})))


def watched_by_others(model: nn.Module) -> bool:
    """Whether the script would see another call of a model: by hooks of its own, or tensors that count what is done."""
    hooks = [*every_module._global_forward_hooks.values(), *every_module._global_forward_pre_hooks.values()]
    for module in model.modules():
        hooks += [*module._forward_hooks.values(), *module._forward_pre_hooks.values()]
    kinds = {type(tensor) for tensor in (*model.parameters(), *model.buffers())}
    own = [*hooks, *(kind for kind in kinds if kind not in (torch.Tensor, nn.Parameter, nn.Buffer))]
    return any(not str(getattr(what, "__module__", "")).startswith("torch") for what in own)


def aliased(given: Any) -> Any:
    """A nest with other tensors that have the same values."""
    if isinstance(given, torch.Tensor):
        return given.detach()
    if type(given) in (list, tuple):
        return type(given)(aliased(part) for part in given)
    if type(given) is dict:
        return {key: aliased(part) for key, part in given.items()}
    if isinstance(given, PLAIN):
        return given
    try:
        return weakref.ref(given)
    except TypeError:
        return lambda: None


def restored(kept: Any) -> Any:
    """The nest again. Raises LookupError where a part is gone."""
    if isinstance(kept, (torch.Tensor, *PLAIN)):
        return kept
    if type(kept) in (list, tuple):
        return type(kept)(restored(part) for part in kept)
    if type(kept) is dict:
        return {key: restored(part) for key, part in kept.items()}
    found = kept()
    if found is None:
        raise LookupError
    return found
