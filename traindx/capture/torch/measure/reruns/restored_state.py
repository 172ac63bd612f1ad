"""A live model may be called outside of its training: everything that this changes is restored."""

from __future__ import annotations

import random
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from traindx.capture.torch.measure.tensors.views import with_torch_functions


class NotRerun(Exception):
    """A recorded call cannot be repeated; says why."""


class Unobserved(TorchDispatchMode):  # type: ignore[misc]
    """While it is entered, capture records nothing: `hooks.traced` sees a dispatch mode."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func(*args, **(kwargs or {}))


@contextmanager
def repeating(model: torch.nn.Module) -> Iterator[None]:
    """A recorded call of the model may be repeated, without gradients. Raises NotRerun where the call
    fails."""
    try:
        with untouched(model), warnings.catch_warnings(), torch.no_grad(), Unobserved():
            warnings.simplefilter("ignore")
            yield
    except Exception as error:
        # The model is called more often than it was written for, so it may raise anything.
        raise NotRerun(f"the model could not be called: {type(error).__name__}") from error


@contextmanager
def untouched(model: torch.nn.Module | None) -> Iterator[None]:
    """Modes, buffers, gradients, attributes of modules and random state (PyTorch's, NumPy's and Python's)
    are restored when this is left."""
    if model is None:
        yield
        return
    modes = [(m, m.training) for m in model.modules()]
    # What a scripted module holds is not in Python's dictionaries.
    plain = [m for m in model.modules() if not isinstance(m, torch.jit.ScriptModule)]
    attributes = [(held, dict(held)) for m in plain for held in (m.__dict__, m._buffers)]
    buffers = [(b, b.detach().clone()) for b in model.buffers()]
    gradients = [(p, p.grad) for p in model.parameters()]
    python_state, numpy_state = random.getstate(), np.random.get_state()
    for parameter, _ in gradients:
        parameter.grad = None
    devices = list({p.device for p, _ in gradients if p.device.type == "cuda"})
    try:
        with torch.random.fork_rng(devices=devices), torch.enable_grad(), with_torch_functions():
            yield
    finally:
        random.setstate(python_state)
        np.random.set_state(numpy_state)
        for module, training in modes:
            module.training = training
        for held, before in attributes:
            held.clear()
            held.update(before)
        with torch.no_grad():
            for buffer, values in buffers:
                buffer.copy_(values)
        for parameter, gradient in gradients:
            parameter.grad = gradient
