"""Probe of the memory of a step: what a forward and a backward pass take at their highest, for the batch that there is
and for half of it (two points of a line), and in bfloat16. Measured where it is allocated, not computed from shapes."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import torch

from traindx.capture.process.guard import ran_out_of_memory
from traindx.capture.torch.checks.last_step import Live
from traindx.capture.torch.checks.samples import NotClear
from traindx.capture.torch.measure.reruns.future_tokens import replaced
from traindx.capture.torch.measure.tensors.views import any_tensor, tensors_in
from traindx.vocabulary.setup import Fact


def room(live: Live) -> dict[str, Fact]:
    """Bytes above the weights and the optimizer's state, and the samples that they are for."""
    count = live.samples()
    if count < 2:
        raise NotClear("it is not clear how many samples a batch has, or it has one")
    half = count // 2
    small, whole = peak(live, count, half, None), peak(live, count, count, None)
    found: dict[str, Fact] = {
        "memory_batch": count, "memory_step": whole, "memory_batch_half": half, "memory_step_half": small,
    }  # fmt: skip
    try:
        found["memory_step_bfloat16"] = peak(live, count, count, torch.bfloat16)
    except (RuntimeError, TypeError, NotImplementedError) as error:  # an operator that has no such variant
        if ran_out_of_memory(error):
            raise
        found["memory_bfloat16"] = "not possible"
    return found


def peak(live: Live, count: int, rows: int, dtype: torch.dtype | None) -> int:
    """The highest use of memory in a pass over the first `rows` of `count` samples, above what stood before."""
    assert live.model is not None
    parameters = [p for p in live.model.parameters() if p.requires_grad]
    inputs, named = live.inputs, live.named
    for tensor in list(tensors_in((inputs, named))):
        if tensor.dim() and len(tensor) == count:
            inputs, named = replaced(inputs, tensor, tensor[:rows]), replaced(named, tensor, tensor[:rows])
    device = parameters[0].device.type

    def pass_through() -> None:
        with torch.autocast(device, dtype) if dtype is not None else nullcontext():
            loss = loss_of(live, live.model(*inputs, **named), count, rows)  # type: ignore[misc]
        torch.autograd.grad(loss, parameters, allow_unused=True)

    return on_accelerator(pass_through) if device == "cuda" else on_host(pass_through)


def loss_of(live: Live, output: Any, count: int, rows: int) -> torch.Tensor:
    """The script's loss on part of a batch, where it can be told how it was called; else any number that depends on
    all outputs."""
    own = getattr(output, "loss", None)
    if isinstance(own, torch.Tensor):
        return own
    given = any_tensor(output if not hasattr(output, "logits") else output.logits)
    if given is None:
        raise NotClear("the model's output holds no tensor")
    target = live.loss.target if live.loss is not None else None
    if (
        live.loss is not None
        and isinstance(target, torch.Tensor)
        and target.dim()
        and len(target) % count == 0
    ):
        target = target[: len(target) // count * rows]
        flat = given if len(given) == len(target) else given.reshape(-1, given.shape[-1])
        if len(flat) == len(target):
            return live.loss.again(flat, target).sum()
    return given.float().sum()


def on_host(work: Callable[[], None]) -> int:
    """Through the host's allocator, as the profiler sees it."""
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
    """Through the allocator of CUDA, after a pass that lets libraries take their workspaces."""
    work()
    torch.cuda.synchronize()
    before = torch.cuda.memory_allocated()
    torch.cuda.reset_peak_memory_stats()
    work()
    torch.cuda.synchronize()
    return int(torch.cuda.max_memory_allocated() - before)
