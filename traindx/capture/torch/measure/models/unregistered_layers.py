"""Layers that a model uses but has not registered: parameters in plain lists, tuples and dicts of its
modules."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import Any

import torch
from torch import nn

DEPTH = 3  # of nested containers


def unregistered_layers(
    model: nn.Module, known: Collection[int], used: Callable[[torch.Tensor], bool]
) -> Iterator[tuple[str, torch.Tensor]]:
    """Name and value of parameters in plain containers of modules that were `used`, that the model has not
    registered, and whose ids are not among those `known` to optimizers."""
    met = {*known, *(id(p) for p in model.parameters())}
    for name, module in model.named_modules():
        for attribute, value in vars(module).items():
            if attribute.startswith("_") or not isinstance(value, list | tuple | dict):
                continue
            for place, parameter in parameters_in(
                value, f"{name}.{attribute}" if name else attribute, DEPTH
            ):
                if id(parameter) not in met and used(parameter):
                    met.add(id(parameter))
                    yield place, parameter


def parameters_in(found: Any, place: str, depth: int) -> Iterator[tuple[str, torch.Tensor]]:
    """All parameters in nested plain containers, with their names."""
    if isinstance(found, nn.Parameter):
        yield place, found
    elif isinstance(found, nn.Module):
        yield from ((f"{place}.{name}", p) for name, p in found.named_parameters())
    elif depth and isinstance(found, dict):
        for key, value in found.items():
            yield from parameters_in(value, f"{place}[{key}]", depth - 1)
    elif depth and isinstance(found, list | tuple):
        for index, value in enumerate(found):
            yield from parameters_in(value, f"{place}[{index}]", depth - 1)
