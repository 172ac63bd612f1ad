"""Probes of a live model: memory by kind and of a step, the accelerator, its structure (biases, unregistered
layers, shared parameters), and the inference latency of one sample and of a batch.

The memory of a step is the peak of a forward and a backward pass, for the last batch and for half of it (two
points of a line), and in bfloat16. It is measured in the allocator, not computed from shapes."""

import time
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.utils._pytree import tree_map

from traindx.capture.process.guard import ran_out_of_memory
from traindx.capture.torch.checks.last_step import Live
from traindx.capture.torch.checks.samples import NotClear
from traindx.capture.torch.measure.models.initial_weights import unregistered_layers
from traindx.capture.torch.measure.reruns.future_tokens import replace_tensor
from traindx.capture.torch.measure.tensors.views import any_tensor, tensors_in
from traindx.vocabulary import Fact


def accelerator(live: Live) -> dict[str, Fact]:
    """The accelerator that PyTorch can use."""
    if torch.cuda.is_available():
        number = torch.cuda.current_device()
        total = torch.cuda.get_device_properties(number).total_memory
        return {
            "accelerator_usable": True,
            "accelerator": torch.cuda.get_device_name(number),
            "accelerator_memory": int(total),
            "accelerator_peak": int(torch.cuda.max_memory_reserved(number)),
        }
    mps = getattr(torch.backends, "mps", None)
    if mps is not None and mps.is_available():
        return {"accelerator_usable": True, "accelerator": "Apple's GPU"}
    return {"accelerator_usable": False}


def memory(live: Live) -> dict[str, Fact]:
    """Bytes of weights, gradients, optimizer state, and of the tensors that a forward pass saves for
    backward."""
    model, session = live.model, live.stream.opened
    assert model is not None
    parameters = list(model.parameters())
    if not parameters:
        raise NotClear("the model has no parameters")
    optimizers = [o for o in session.watched.optimizers if o is not None] if session is not None else []
    states = [t for o in optimizers for s in getattr(o, "state", {}).values() for t in tensors_of(s)]
    return {
        "memory_weights": size(parameters) + size(list(model.buffers())),
        "memory_gradients": size([p for p in parameters if p.requires_grad]),
        "memory_optimizer": size(states),
        "memory_activations": activations(live, model, parameters),
    }


def tensors_of(state: Any) -> list[torch.Tensor]:
    return [v for v in state.values() if isinstance(v, torch.Tensor)] if isinstance(state, dict) else []


def size(tensors: list[torch.Tensor]) -> int:
    return sum(t.numel() * t.element_size() for t in tensors)


def activations(live: Live, model: torch.nn.Module, parameters: list[torch.Tensor]) -> int:
    """Bytes that autograd saves in a forward pass, each storage once, parameters left out."""
    own = {p.untyped_storage().data_ptr() for p in parameters}
    kept: dict[int, int] = {}

    def pack(tensor: torch.Tensor) -> torch.Tensor:
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in own:
            kept[storage.data_ptr()] = storage.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        output = model(
            *live.inputs, **live.named
        )  # held until the hooks are removed, so that no storage is reused
    del output
    return sum(kept.values())


def step_memory(live: Live) -> dict[str, Fact]:
    """Bytes in addition to the weights and the optimizer's state, and the number of samples."""
    count = live.samples()
    if count < 2:
        raise NotClear("it is not clear how many samples a batch has, or it has one")
    half = count // 2
    small, full = peak(live, count, half, None), peak(live, count, count, None)
    found: dict[str, Fact] = {
        "memory_batch": count, "memory_step": full, "memory_batch_half": half, "memory_step_half": small,
    }  # fmt: skip
    try:
        found["memory_step_bfloat16"] = peak(live, count, count, torch.bfloat16)
    except (RuntimeError, TypeError, NotImplementedError) as error:  # an operator that has no such variant
        if ran_out_of_memory(error):
            raise
        found["memory_bfloat16"] = "not possible"
    return found


def peak(live: Live, count: int, rows: int, dtype: torch.dtype | None) -> int:
    """The peak of memory in a pass over the first `rows` of `count` samples, in addition to the memory used
    before."""
    assert live.model is not None
    parameters = [p for p in live.model.parameters() if p.requires_grad]
    inputs, named = live.inputs, live.named
    for tensor in list(tensors_in((inputs, named))):
        if tensor.dim() and len(tensor) == count:
            inputs, named = (
                replace_tensor(inputs, tensor, tensor[:rows]),
                replace_tensor(named, tensor, tensor[:rows]),
            )
    device = parameters[0].device.type

    def pass_through() -> None:
        with torch.autocast(device, dtype) if dtype is not None else nullcontext():
            loss = loss_of(live, live.model(*inputs, **named), count, rows)  # type: ignore[misc]
        torch.autograd.grad(loss, parameters, allow_unused=True)

    return on_accelerator(pass_through) if device == "cuda" else on_host(pass_through)


def loss_of(live: Live, output: Any, count: int, rows: int) -> torch.Tensor:
    """The script's loss on part of a batch, where it is known how it was called; else a number that depends
    on all outputs."""
    own = getattr(output, "loss", None)
    if isinstance(own, torch.Tensor):
        return own
    given = any_tensor(output if not hasattr(output, "logits") else output.logits)
    if given is None:
        raise NotClear("the model's output holds no tensor")
    call = live.loss
    target = None if call is None else call.target
    by_sample = isinstance(target, torch.Tensor) and target.dim()
    if call is not None and target is not None and by_sample and len(target) % count == 0:
        target = target[: len(target) // count * rows]
        flat = given if len(given) == len(target) else given.reshape(-1, given.shape[-1])
        if len(flat) == len(target):
            return call.again(flat, target).sum()
    return given.float().sum()


def on_host(work: Callable[[], None]) -> int:
    """Peak of the host's allocator, recorded by the profiler."""
    activities = [torch.profiler.ProfilerActivity.CPU]
    with torch.profiler.profile(activities=activities, profile_memory=True) as profiler:
        work()
    results = profiler.profiler.kineto_results
    changes = sorted((e.start_ns(), e.nbytes()) for e in results.events() if e.name() == "[memory]")
    used = highest = 0
    for _, change in changes:
        used += change
        highest = max(highest, used)
    return highest


def on_accelerator(work: Callable[[], None]) -> int:
    """Peak of CUDA's allocator, after a first pass in which libraries allocate their workspaces."""
    work()
    torch.cuda.synchronize()
    before = torch.cuda.memory_allocated()
    torch.cuda.reset_peak_memory_stats()
    work()
    torch.cuda.synchronize()
    return int(torch.cuda.max_memory_allocated() - before)


NAMED = 10  # names in a fact
SUBTRACTS_MEAN = (nn.modules.batchnorm._BatchNorm, nn.modules.instancenorm._InstanceNorm)
WITH_BIAS = (nn.Linear, nn.modules.conv._ConvNd)


def structure(live: Live) -> dict[str, Fact]:
    """Biases that a normalization cancels, layers that are not registered, shared parameters."""
    model = live.model
    assert model is not None
    biased = [name for name, first, second in neighbours(model) if is_wasted_bias(first, second)]
    lost = unregistered_parameters(live, model)
    out: dict[str, Fact] = {
        "bias_before_normalization": len(biased),
        "parameters_unregistered": sum(p.numel() for p in lost.values()),
        "parameters_shared": count_shared_parameters(model),
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


def is_wasted_bias(first: nn.Module, second: nn.Module) -> bool:
    return isinstance(first, WITH_BIAS) and first.bias is not None and isinstance(second, SUBTRACTS_MEAN)


def count_shared_parameters(model: nn.Module) -> int:
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
    out = percentile_facts("latency_batch", batch)
    if count:
        out["latency_samples"] = count
        out["inference_throughput"] = count / float(np.median(batch))
        inputs, keywords = first_row(live.inputs, count), first_row(live.named, count)
        out |= percentile_facts("latency", times(lambda: model(*inputs, **keywords)))
    return out


def percentile_facts(name: str, seconds: list[float]) -> dict[str, Fact]:
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
