"""Sharded gradients (FSDP, DTensor): this process's part of the global norm.

A collective operation inside an observer would hang the training as soon as one process is not observed any
more. So each process records the norm of its part, weighted so that the squares of all processes sum up
to the square of the true norm, and the reader of the store adds them up."""

import math
import sys
from collections.abc import Sequence
from typing import Any

import torch

SHARDING = ("FullyShardedDataParallel",)  # wrappers whose parameters are plain parts


def is_distributed(tensor: torch.Tensor) -> bool:
    """Whether a tensor is a DTensor."""
    return type(tensor) not in (torch.Tensor, torch.nn.Parameter) and hasattr(tensor, "device_mesh")


def norm_weight(parameter: Any, processes: int) -> float:
    """The weight of the square of a parameter's local norm: 1 for a part that no other process has, 1/n
    where n processes hold the same part."""
    if not is_distributed(parameter):
        return 1.0 / processes
    mesh, placements = parameter.device_mesh, parameter.placements
    copies: int = math.prod(mesh.size(i) for i, placed in enumerate(placements) if placed.is_replicate())
    return 1.0 / copies


def several_processes() -> bool:
    """Whether this is one of several processes that train together (once their group is made)."""
    distributed = sys.modules.get("torch.distributed")
    ready = distributed is not None and distributed.is_available() and distributed.is_initialized()
    return bool(ready and distributed is not None and distributed.get_world_size() > 1)


class Shards:
    """Which of the parameters of a step are parts, determined again when their number changes."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[int, list[float]]] = {}
        self.processes = 1
        self.possible = False

    def refresh(self) -> None:
        self.possible = several_processes()

    def weights(
        self, key: int, parameters: Sequence[torch.Tensor], models: Sequence[torch.nn.Module]
    ) -> list[float]:
        """`weight[p]` of the squares of the parameters' local norms; empty where nothing is sharded. `key`
        identifies the optimizer."""
        known = self._known.get(key)
        if known is None or known[0] != len(parameters):
            known = self._known[key] = (len(parameters), self._weights(parameters, models))
        return known[1]

    def _weights(self, parameters: Sequence[torch.Tensor], models: Sequence[torch.nn.Module]) -> list[float]:
        if not self.possible:
            return []
        processes = int(sys.modules["torch.distributed"].get_world_size())
        flat = any(type(m).__name__ in SHARDING for model in models for m in model.modules())
        if not (flat or any(map(is_distributed, parameters))):
            return []
        self.processes = processes
        return [1.0 if flat and not is_distributed(p) else norm_weight(p, processes) for p in parameters]


def weighted_norm(found: Any, weights: Sequence[float], own: int, factor: float) -> Any:
    """The norm of the first `own` of `found`, which `Measures.gradients` has read: squares as a list (on a
    host) or norms as a tensor. On an accelerator nothing is copied where all weights are the same."""
    if isinstance(found, torch.Tensor):
        kinds = sorted(set(weights[:own]))
        if len(kinds) == 1:
            return torch.linalg.vector_norm(found[:own]) * (factor * kinds[0] ** 0.5)
        parts = [
            torch.linalg.vector_norm(n) * w**0.5 for n, w in zip(found[:own].unbind(), weights, strict=False)
        ]
        return torch.linalg.vector_norm(torch.stack(parts)) * factor
    return math.sqrt(sum(w * s for w, s in zip(weights[:own], found[:own], strict=True))) * factor


def replicated_number(value: Any) -> Any:
    """A number that a loop computed over processes, if this process has it; None where it is still to be
    summed."""
    if not isinstance(value, torch.Tensor) or not is_distributed(value):
        return value
    spread: Any = value
    return spread._local_tensor if all(placed.is_replicate() for placed in spread.placements) else None
