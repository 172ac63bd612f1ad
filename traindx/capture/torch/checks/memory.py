"""Probes of a training's memory by kind, and of the available accelerator."""

from __future__ import annotations

from typing import Any

import torch

from traindx.capture.torch.checks.last_step import Live
from traindx.capture.torch.checks.samples import NotClear
from traindx.vocabulary.setup import Fact


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
