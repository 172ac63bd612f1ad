"""A live model may be called besides its training: what that changes is put back."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import torch

from traindx.capture.torch.measure.tensors.isolation import attached


@contextmanager
def untouched(model: torch.nn.Module | None) -> Iterator[None]:
    """Modes, buffers, gradients, what modules keep as attributes and random state (PyTorch's, NumPy's and Python's) are
    what they were when this is left."""
    if model is None:
        yield
        return
    modes = [(m, m.training) for m in model.modules()]
    kept = [(d, dict(d)) for m in model.modules() if not scripted(m) for d in (m.__dict__, m._buffers)]
    buffers = [(b, b.detach().clone()) for b in model.buffers()]
    gradients = [(p, p.grad) for p in model.parameters()]
    drawn, drawn_by_numpy = random.getstate(), np.random.get_state()
    for parameter, _ in gradients:
        parameter.grad = None
    devices = list({p.device for p, _ in gradients if p.device.type == "cuda"})
    try:
        with torch.random.fork_rng(devices=devices), torch.enable_grad(), attached():
            yield
    finally:
        random.setstate(drawn)
        np.random.set_state(drawn_by_numpy)
        for module, training in modes:
            module.training = training
        for held, before in kept:
            held.clear()
            held.update(before)
        with torch.no_grad():
            for buffer, values in buffers:
                buffer.copy_(values)
        for parameter, gradient in gradients:
            parameter.grad = gradient


def scripted(module: torch.nn.Module) -> bool:
    """Whether what a module keeps is not in Python's hands."""
    return isinstance(module, torch.jit.ScriptModule)
