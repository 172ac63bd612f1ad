"""Layers that a model uses and does not know: parameters in plain lists, tuples and dicts of its modules."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import Any

import torch
from torch import nn

DEEP = 3  # containers within containers


def unregistered(
    model: nn.Module, known: Collection[int], used: Callable[[torch.Tensor], bool]
) -> Iterator[tuple[str, torch.Tensor]]:
    """Name and value of parameters in plain containers of modules that were `used`, and that are neither the model's
    nor among the ids of those `known` (to optimizers)."""
    met = {*known, *(id(p) for p in model.parameters())}
    for name, module in model.named_modules():
        for attribute, value in vars(module).items():
            if attribute.startswith("_") or not isinstance(value, list | tuple | dict):
                continue
            for place, parameter in held(value, f"{name}.{attribute}" if name else attribute, DEEP):
                if id(parameter) not in met and used(parameter):
                    met.add(id(parameter))
                    yield place, parameter


def held(found: Any, place: str, depth: int) -> Iterator[tuple[str, torch.Tensor]]:
    """All parameters in a nest of plain containers."""
    if isinstance(found, nn.Parameter):
        yield place, found
    elif isinstance(found, nn.Module):
        yield from ((f"{place}.{name}", p) for name, p in found.named_parameters())
    elif depth and isinstance(found, dict):
        for key, value in found.items():
            yield from held(value, f"{place}[{key}]", depth - 1)
    elif depth and isinstance(found, list | tuple):
        for index, value in enumerate(found):
            yield from held(value, f"{place}[{index}]", depth - 1)
