"""The largest absolute output of each layer, on the forward passes that are sampled."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import nn


class Observer:
    """Collects the largest output of each layer from `arm` to `disarm`."""

    def __init__(self, failed: Callable[[str, Exception], None]) -> None:
        self._failed = failed
        self._handles: list[Any] = []
        self.readings: dict[str, torch.Tensor] = {}

    def arm(self, models: Sequence[tuple[str, nn.Module]]) -> None:
        """Hook the layers for the coming pass."""
        self.disarm()
        self.readings = {}
        for name, model in models:
            for path, module in model.named_modules():
                if not any(module.children()):
                    named = ".".join(part for part in (name, path) if part) or type(module).__name__
                    self._handles.append(module.register_forward_hook(self._reader(named)))

    def _reader(self, name: str) -> Any:
        def read(_module: nn.Module, _inputs: Any, output: Any) -> None:
            if isinstance(output, torch.Tensor):
                self.readings[name] = output.detach().abs().max().double()

        return read

    def disarm(self) -> None:
        for handle in self._handles:
            handle.remove()
        self._handles.clear()

    def take(self) -> dict[str, torch.Tensor]:
        """The readings since the last call, by module."""
        found, self.readings = self.readings, {}
        return found
