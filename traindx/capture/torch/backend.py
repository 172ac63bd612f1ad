"""What a session knows of PyTorch."""

import importlib.util
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch

from traindx.capture.session import Backend, Part, Rate, Session, Watched
from traindx.capture.torch.measure.gradients.norms_and_updates import (
    Updates,
    gradient_norms,
    gradient_squares,
)
from traindx.capture.torch.measure.models.tree import Tree, architecture
from traindx.capture.torch.measure.tensors.shards import replicated_number
from traindx.capture.torch.measure.tensors.views import isolate_operations
from traindx.capture.torch.observer import TorchObserver
from traindx.vocabulary import Fact, Floats

SETTINGS = ("momentum", "weight_decay", "nesterov", "eps", "amsgrad", "dampening", "maximize", "alpha")


def torch_session(out: Path | None, **options: Any) -> Session:
    """A session of a training in PyTorch; `options` are those of `Session`."""
    return Session(out, TorchBackend(), **options)


@cache
def reader_of(kind: str) -> Callable[[Sequence[Any], bool], Any] | None:
    """The reader of a family of signals (measure/by_parameter/<kind>.py)."""
    name = f"traindx.capture.torch.measure.by_parameter.{kind}"
    return importlib.import_module(name).read if importlib.util.find_spec(name) is not None else None


class TorchBackend(Backend):
    """Modules, `torch.optim` and tensors; one backend for each session."""

    name = "torch"
    libraries = ("torch", "lightning", "transformers", "accelerate")

    def __init__(self) -> None:
        self.tree = Tree()

    def parts(self, model: Any, prefix: str) -> Sequence[Part] | None:
        return self.tree.add(model, prefix)

    def architecture(self, model: Any) -> dict[str, Fact]:
        return dict(architecture(model))

    def size(self, parameter: Any) -> int:
        return int(parameter.numel())

    def trainable(self, parameter: Any) -> bool:
        return bool(parameter.requires_grad)

    def parameters_of(self, optimizer: Any) -> list[Any]:
        return [p for group in optimizer.param_groups for p in group["params"]]

    def count(self, optimizer: Any) -> int:
        count = 0
        for group in optimizer.param_groups:
            count += len(group["params"])
        return count

    def rates(self, optimizer: Any) -> list[float]:
        return [float(g["lr"]) if "lr" in g else 1.0 for g in optimizer.param_groups for _ in g["params"]]

    def rate_signals(self, optimizer: Any) -> Iterable[Rate]:
        groups = [g for g in optimizer.param_groups if "lr" in g]
        for i, group in enumerate(groups):
            rate = group["lr"]
            if not i or (rate is not groups[0]["lr"] and rate != groups[0]["lr"]):
                signal = f"lr/{optimizer.param_groups[i].get('name', i)}" if i else "lr"
                yield Rate(signal, rate if isinstance(rate, torch.Tensor) else float(rate))

    def optimizer_facts(self, optimizer: Any) -> dict[str, Fact]:
        """From the first group (the highest rate of all)."""
        groups = optimizer.param_groups
        out: dict[str, Fact] = {"optimizer": type(optimizer).__name__, "parameter_groups": len(groups)}
        if all(isinstance(g.get("lr"), float | int) for g in groups):
            out["lr"] = float(max(g["lr"] for g in groups))
        for name in SETTINGS:
            if isinstance(groups[0].get(name), float | int | bool):
                out[name] = groups[0][name]
        betas = groups[0].get("betas")
        if isinstance(betas, tuple) and all(isinstance(b, float | int) for b in betas):
            out |= {f"beta{i}": float(b) for i, b in enumerate(betas, 1)}
            out["momentum"] = float(betas[0])
        return out

    def elsewhere(self, parameters: Sequence[Any]) -> bool:
        return any(p.device.type != "cpu" for p in parameters)

    def gradient_squares(self, parameters: Sequence[Any], elsewhere: bool) -> Any:
        return gradient_norms(parameters) if elsewhere else gradient_squares(parameters)

    def global_norm(self, norms: Any) -> Any:
        return torch.linalg.vector_norm(norms)

    def stale(self, parameters: Sequence[Any], elsewhere: bool) -> bool:
        there = [p.grad for p in parameters if p.grad is not None]
        return bool(there) if not there or elsewhere else any(bool(g.detach().any()) for g in there)

    def loss_scale(self, optimizer: Any) -> float | None:
        scale = getattr(optimizer, "grad_scale", None)
        return None if scale is None or not scale.is_cpu else float(scale)

    def updates(self, elsewhere: bool) -> Updates:
        return Updates(elsewhere)

    def read(self, kind: str, parameters: Sequence[Any], elsewhere: bool) -> Any:
        reader = reader_of(kind)
        return None if reader is None else reader(parameters, elsewhere)

    def reduce_over_processes(self, value: Any) -> Any:
        return replicated_number(value)

    def scale_of(self, scaler: Any) -> Any:
        scale = getattr(scaler, "_scale", None)  # `get_scale()` would wait for the device
        return None if scale is None else self.number(scale)

    def number(self, value: Any) -> Any:
        """A float where it is on the host; else a copy, for the loop may write over its own."""
        if hasattr(value, "detach"):
            if value.is_cpu:  # not `device.type`, which makes two objects: 20 microseconds with cold caches
                return float(value.item()) if value.numel() == 1 else None
            return value.detach().clone().reshape(()) if value.numel() == 1 else None
        return super().number(value)

    def clip_at_one(self, ratio: Any) -> Any:
        return ratio.clamp(max=1.0) if isinstance(ratio, torch.Tensor) else min(1.0, ratio)

    def fetch(self, values: Sequence[Any]) -> list[Floats]:
        out: list[Floats] = [np.zeros(0)] * len(values)
        groups: dict[Any, list[int]] = {}
        for i, tensor in enumerate(values):
            groups.setdefault(tensor.device, []).append(i)
        for places in groups.values():
            parts = [values[i].detach().reshape(-1).float() for i in places]
            whole = torch.cat(parts).cpu().double().numpy()
            ends = np.cumsum([p.numel() for p in parts])
            for i, part in zip(places, np.split(whole, ends[:-1]), strict=True):
                out[i] = part
        return out

    def device_memory(self) -> float | None:
        return float(torch.cuda.memory_allocated()) if torch.cuda.is_available() else None

    apart = staticmethod(isolate_operations)  # entered a dozen times in each step: no call in between

    def observers(self, view: Watched) -> Sequence[object]:
        return [TorchObserver(view, self.tree)]
