"""Probe of a model's structure: biases, unregistered layers and shared parameters."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import torch
from torch import nn

from traindx.capture.torch.checks.last_step import Live
from traindx.capture.torch.measure.models.unregistered_layers import unregistered_layers
from traindx.vocabulary.setup import Fact

NAMED = 10  # names in a fact
SUBTRACTS_MEAN = (nn.modules.batchnorm._BatchNorm, nn.modules.instancenorm._InstanceNorm)
WITH_BIAS = (nn.Linear, nn.modules.conv._ConvNd)


def structure(live: Live) -> dict[str, Fact]:
    """Biases that a normalization cancels, layers that are not registered, shared parameters."""
    model = live.model
    assert model is not None
    biased = [name for name, first, second in neighbours(model) if wasted(first, second)]
    lost = unregistered_parameters(live, model)
    out: dict[str, Fact] = {
        "bias_before_normalization": len(biased),
        "parameters_unregistered": sum(p.numel() for p in lost.values()),
        "parameters_shared": shared(model),
    }
    if biased:
        out["bias_before_normalization_names"] = ", ".join(biased[:NAMED])
    if lost:
        out["parameters_unregistered_names"] = ", ".join(list(lost)[:NAMED])
    return out


def neighbours(model: nn.Module) -> Iterator[tuple[str, nn.Module, nn.Module]]:
    """Modules that follow each other in a sequence."""
    for name, module in model.named_modules():
        if isinstance(module, nn.Sequential):
            parts = list(module.named_children())
            for (own, first), (_, second) in pairwise(parts):
                yield f"{name}.{own}" if name else own, first, second


def wasted(first: nn.Module, second: nn.Module) -> bool:
    return isinstance(first, WITH_BIAS) and first.bias is not None and isinstance(second, SUBTRACTS_MEAN)


def shared(model: nn.Module) -> int:
    """Parameters that more than one module holds."""
    every = [id(p) for _, p in model.named_parameters(remove_duplicate=False)]
    return len(every) - len(set(every))


def unregistered_parameters(live: Live, model: nn.Module) -> dict[str, torch.Tensor]:
    """Parameters in plain containers of modules that took part in the loss, and that neither the model nor
    an optimizer knows."""
    session = live.stream.opened
    optimizers = [o for o in session.watched.optimizers if o is not None] if session is not None else []
    known = {id(p) for optimizer in optimizers for group in optimizer.param_groups for p in group["params"]}
    used = {id(p) for p in live.leaves}
    return dict(unregistered_layers(model, known, lambda p: id(p) in used))
