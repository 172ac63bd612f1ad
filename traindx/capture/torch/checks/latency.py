"""Probe of the inference latency of one sample and of a batch."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch.utils._pytree import tree_map

from traindx.capture.torch.checks.last_step import Live
from traindx.capture.torch.measure.tensors.views import tensors_in
from traindx.vocabulary.setup import Fact

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
