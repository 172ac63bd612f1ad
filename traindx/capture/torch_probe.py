"""Hooks on modules, there only during the forward passes that are sampled."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import nn

from traindx.capture import measure_activations as act
from traindx.capture.measure_views import first_tensor
from traindx.capture.torch_probe_layout import CHANNELS_SECOND, RECTIFIERS, SQUASHERS, Layout

MOST_CALLS = 4  # uses of one module in a forward pass that are told apart
RANK_EVERY = 4  # samples between effective ranks, which cost as much as all else
HOPS = 6  # operations between an activation and the module that takes it in
FUNCTIONS: dict[str, act.Kind] = {
    "ReluBackward0": "rectifier",
    "ThresholdBackward0": "rectifier",
    "TanhBackward0": "tanh output",
    "SigmoidBackward0": "sigmoid output",
}
PASSED = ("View", "Reshape", "UnsafeView", "Clone", "MaxPool", "Transpose", "Permute", "Squeeze", "Unsqueeze",
          "NativeDropout", "Mul", "T", "Expand", "ToCopy")  # fmt: skip


class ForwardProbe:
    """Activation statistics of the modules of a layout. `armed` from `arm` to `disarm`; `readings`
    holds, by module name, the FIELDS and the silent share of the sampled pass."""

    def __init__(self, layout: Layout, failed: Callable[[str, Exception], None]) -> None:
        self._layout, self._failed = layout, failed
        self._handles: list[Any] = []
        self._units: dict[str, act.Units] = {}
        self._calls: dict[str, int] = {}
        self._seen: set[Any] = set()
        self._turn = 0
        self.readings: dict[str, list[Any]] = {}
        self.order: list[str] = []  # modules in the order of their calls
        self.seconds = 0.0
        self.channels_second = False

    @property
    def armed(self) -> bool:
        return bool(self._handles)

    def arm(self) -> None:
        """Hook all modules for the coming forward pass."""
        if self.armed:
            return
        self._turn += 1
        self._calls, self.readings, self.order, self.seconds = {}, {}, [], 0.0
        self.channels_second = any(isinstance(m, CHANNELS_SECOND) for _, m in self._layout.leaves)
        for name, module in self._layout.leaves:
            self._handles.append(module.register_forward_hook(partial(self._hook, name)))

    def disarm(self) -> None:
        """Take all hooks away and let go of the graph's nodes."""
        for handle in self._handles:
            handle.remove()
        self._handles = []
        self._seen = set()

    def _hook(self, name: str, module: nn.Module, given: tuple[Any, ...], output: Any) -> None:
        began = time.perf_counter()
        if not torch.is_grad_enabled():
            return
        try:
            with np.errstate(all="ignore"):
                self._measure(name, module, given, output)
        except Exception as error:  # noqa: BLE001 - inside the user's forward pass nothing may be raised
            self.disarm()
            self._failed(f"measuring {name}", error)
        self.seconds += time.perf_counter() - began

    def _measure(self, name: str, module: nn.Module, given: tuple[Any, ...], output: Any) -> None:
        call = self._calls[name] = self._calls.get(name, 0) + 1
        found = first_tensor(output)
        if found is None or (call > 1 and module._parameters) or call > MOST_CALLS:
            return
        name = f"{name}#{call}" if call > 1 else name
        kind: act.Kind = "rectifier" if isinstance(module, RECTIFIERS) else ""
        if isinstance(module, SQUASHERS):
            kind = "squasher"
        taken = first_tensor(given)
        if kind and found.grad_fn is not None:
            self._seen.add(found.grad_fn)
        if module._parameters and taken is not None:
            applied = self._function_before(taken)
            if applied:
                self._read(f"{name}.input", taken, applied, None)
        self._read(name, found, kind, taken)

    def _read(self, name: str, output: torch.Tensor, kind: act.Kind, before: torch.Tensor | None) -> None:
        rows = act.rows_of(output, self._turn)
        inner = act.rows_of(before, self._turn) if kind == "squasher" and before is not None else None
        spread = None if self._turn % RANK_EVERY else output
        made: list[Any]
        if output.device.type == "cpu":
            made = list(act.measured(rows, kind, inner, spread))
        else:
            made = list(act.measured_on_device(rows, kind, inner, spread))
        silent: Any = float("nan")
        if kind == "rectifier":
            units = self._units.setdefault(name, act.Units())
            rows = rows.detach()
            native = rows.device.type == "cpu" and rows.dtype in (torch.float32, torch.float64)
            units.add(act.by_unit(rows.numpy() if native else rows, self.channels_second), len(rows))
            silent = units.silent()
        self.readings[name] = [*made, silent]
        self.order.append(name)

    def _function_before(self, taken: torch.Tensor) -> act.Kind:
        """The activation function, called as a function, whose values a module takes in."""
        node = taken.grad_fn
        for _ in range(HOPS):
            if node is None or node in self._seen:
                return ""
            kind = FUNCTIONS.get(node.name())
            if kind:
                self._seen.add(node)
                return kind
            if not node.name().startswith(PASSED):
                return ""
            node = node.next_functions[0][0]
        return ""
