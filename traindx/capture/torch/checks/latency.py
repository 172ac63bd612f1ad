"""Probe of how fast a model answers: latency of one sample and of a batch."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from traindx.capture.torch.checks.last_step import Live
from traindx.capture.torch.measure.tensors.views import tensors_in
from traindx.vocabulary.setup import Fact

MOST, LEAST, SECONDS, WARM = 200, 20, 0.6, 3  # calls, calls, seconds for each of the two, calls before


def latency(live: Live) -> dict[str, Fact]:
    """Seconds of a call in evaluation mode: median, 95th and 99th percentile."""
    model, count = live.model, live.samples()
    assert model is not None
    model.eval()
    whole = times(lambda: model(*live.inputs, **live.named))
    out = named("latency_batch", whole)
    if count:
        out["latency_samples"] = count
        out["inference_throughput"] = count / float(np.median(whole))
        inputs, keywords = first_row(live.inputs, count), first_row(live.named, count)
        out |= named("latency", times(lambda: model(*inputs, **keywords)))
    return out


def named(name: str, seconds: list[float]) -> dict[str, Fact]:
    return {f"{name}_p{p}": float(np.percentile(seconds, p)) for p in (50, 95, 99)}


def first_row(found: Any, count: int) -> Any:
    """The first sample of every tensor that has one row for each."""
    if isinstance(found, torch.Tensor):
        return found[:1] if found.dim() and len(found) == count else found
    if isinstance(found, dict):
        return {k: first_row(v, count) for k, v in found.items()}
    return type(found)(first_row(v, count) for v in found) if type(found) in (list, tuple) else found


def times(call: Callable[[], Any]) -> list[float]:
    """Seconds of each of some calls, without gradients; the accelerator is waited for."""
    found: list[float] = []
    with torch.no_grad():
        device = next((t.device.type for t in tensors_in(call())), "cpu")
        began = time.perf_counter()
        while len(found) < LEAST + WARM or (len(found) < MOST and time.perf_counter() - began < SECONDS):
            start = time.perf_counter()
            call()
            if device == "cuda":
                torch.cuda.synchronize()
            found.append(time.perf_counter() - start)
            if len(found) > WARM and time.perf_counter() - began > 3 * SECONDS:
                break
    return found[WARM:]
