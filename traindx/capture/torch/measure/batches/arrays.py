"""Batches of tensors as arrays on the host, for `arrays/batch`."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from traindx.capture.arrays.batch import Data
from traindx.capture.arrays.data import SAMPLE_PROBE, Array

ON_DEVICE = 4  # batches fetched from an accelerator (each fetch waits for it)


class Host:
    """The first tensor of a batch as an array; None where there is none that can be read cheaply."""

    def __init__(self) -> None:
        self._fetched = 0

    def __call__(self, found: Any) -> Array | None:
        tensor = _first(found)
        if isinstance(tensor, torch.Tensor):
            tensor = tensor.detach()
            if tensor.device.type != "cpu":
                self._fetched += 1
                if self._fetched > 2 * ON_DEVICE:
                    return None
                tensor = tensor.cpu()
            if tensor.layout is not torch.strided or tensor.is_complex():
                return None
            tensor = tensor if tensor.dtype not in (torch.bfloat16, torch.float16) else tensor.float()
            return np.atleast_1d(tensor.numpy())
        return (
            np.atleast_1d(tensor) if isinstance(tensor, np.ndarray) and tensor.dtype.kind in "fiub" else None
        )


def batch_statistics(*, patient: bool = False) -> Data:
    """Statistics of batches of tensors."""
    return Data(Host(), sample_table, patient=patient)


def outputs_of(output: torch.Tensor) -> Array:
    """Outputs on the CPU as an array."""
    values = output.detach()
    return np.asarray((values if values.dtype in (torch.float32, torch.float64) else values.float()).numpy())


def sample_table(inputs: Any, first: Array) -> Array:
    """Values by which the samples of a batch can be recognized: its `first` tensor where it is the only one.
    Else a table of some values of all tensors on the host with a row for each sample (a user and an item,
    tokens and a mask)."""
    if isinstance(inputs, torch.Tensor) or (isinstance(inputs, list | tuple) and len(inputs) == 1):
        return first
    if isinstance(inputs, dict) or hasattr(inputs, "values"):
        inputs = list(inputs.values()) if callable(inputs.values) else ()
    parts = (
        [t.detach() for t in inputs if isinstance(t, torch.Tensor)]
        if isinstance(inputs, list | tuple)
        else []
    )
    flat = [t.reshape(len(t), -1) for t in parts if t.dim() and len(t) == len(first) and _readable(t)]
    if len(flat) < 2:
        return first
    spread = [t[:, :: max(1, t.shape[1] // SAMPLE_PROBE)].double().numpy() for t in flat if t.numel()]
    return np.concatenate(spread, 1)


def _readable(tensor: torch.Tensor) -> bool:
    return tensor.device.type == "cpu" and tensor.layout is torch.strided and not tensor.is_complex()


def _first(found: Any) -> Any:
    """The first tensor or array in nested tuples, lists and dicts."""
    if isinstance(found, torch.Tensor | np.ndarray):
        return found
    if isinstance(found, dict) or hasattr(found, "values"):
        found = list(found.values()) if callable(found.values) else None
    if isinstance(found, list | tuple):
        return next((t for t in map(_first, found) if t is not None), None)
    return None
