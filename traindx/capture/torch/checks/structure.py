"""Probes of a model's structure (biases, unregistered layers, shared parameters), and of the inference latency of
one sample and of a batch."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.utils._pytree import tree_map

from traindx.capture.torch.checks.last_step import Live
from traindx.capture.torch.measure.models.as_built import unregistered_layers
from traindx.capture.torch.measure.tensors.views import tensors_in
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


MOST, LEAST, SECONDS, WARM_UP = (
    200,
    20,
    0.6,
    3,
)  # calls at most, at least, seconds of each measurement, calls before


def latency(live: Live) -> dict[str, Fact]:
    """Seconds of a call in evaluation mode: median, 95th and 99th percentile."""
    model, count = live.model, live.samples()
    assert model is not None
    model.eval()
    batch = times(lambda: model(*live.inputs, **live.named))
    out = named("latency_batch", batch)
    if count:
        out["latency_samples"] = count
        out["inference_throughput"] = count / float(np.median(batch))
        inputs, keywords = first_row(live.inputs, count), first_row(live.named, count)
        out |= named("latency", times(lambda: model(*inputs, **keywords)))
    return out


def named(name: str, seconds: list[float]) -> dict[str, Fact]:
    return {f"{name}_p{p}": float(np.percentile(seconds, p)) for p in (50, 95, 99)}


def first_row(found: Any, count: int) -> Any:
    """The first sample of every tensor that has one row for each."""

    def row(part: Any) -> Any:
        by_sample = isinstance(part, torch.Tensor) and part.dim() and len(part) == count
        return part[:1] if by_sample else part

    return tree_map(row, found)


def times(call: Callable[[], Any]) -> list[float]:
    """Seconds of each of some calls, without gradients, until the accelerator has finished."""
    found: list[float] = []
    with torch.no_grad():
        device = next((t.device.type for t in tensors_in(call())), "cpu")
        began = time.perf_counter()
        while len(found) < LEAST + WARM_UP or (len(found) < MOST and time.perf_counter() - began < SECONDS):
            start = time.perf_counter()
            call()
            if device == "cuda":
                torch.cuda.synchronize()
            found.append(time.perf_counter() - start)
            if len(found) > WARM_UP and time.perf_counter() - began > 3 * SECONDS:
                break
    return found[WARM_UP:]
