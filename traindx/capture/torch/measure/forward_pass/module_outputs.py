"""Statistics of the outputs of modules, read by hooks during the forward passes that are sampled: on the host
by `arrays/activations`, on an accelerator the same ones computed there."""

import math
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import nn

from traindx.capture.arrays import activations as act
from traindx.capture.process.patches import LiveIds, remove_all
from traindx.capture.session.clock import Clock
from traindx.capture.torch.hooks import CALLS
from traindx.capture.torch.measure.models.tree import CHANNELS_SECOND, RECTIFIERS, SQUASHERS, Tree
from traindx.capture.torch.measure.tensors.views import NATIVE, first_tensor, local_part

MOST_CALLS = 4  # uses of one module in a forward pass that have readings of their own
RANK_EVERY = 4  # samples between effective ranks, which cost as much as all else
HOPS = 6  # operations between an activation function and the module that uses it
FUNCTIONS: dict[str, act.Kind] = {
    "ReluBackward0": "rectifier",
    "ThresholdBackward0": "rectifier",
    "TanhBackward0": "tanh output",
    "SigmoidBackward0": "sigmoid output",
}
PASSED = ("View", "Reshape", "UnsafeView", "Clone", "MaxPool", "Transpose", "Permute", "Squeeze", "Unsqueeze",
          "NativeDropout", "Mul", "T", "Expand", "ToCopy")  # fmt: skip


class ForwardProbe:
    """Activation statistics of the modules of a layout, of the passes from `arm` to `disarm`; `collect`
    returns them. The hooks stay in place, inactive, until `unhook`: that is cheaper where the next pass is
    sampled, too."""

    def __init__(
        self, layout: Tree, failed: Callable[[str, Exception], None], clock: Clock | None = None
    ) -> None:
        self._layout, self._failed, self._clock = layout, failed, clock or Clock()
        self._handles: list[Any] = []
        self._units: dict[str, act.Units] = {}
        self._calls: dict[str, int] = {}
        self._hooked = LiveIds()
        self._refused: set[str] = set()  # names of modules whose outputs cannot be measured
        # Activations in the graph, by sequence number: a node would keep its saved tensors alive.
        self._seen: set[int] = set()
        self._turn = 0
        self.armed = False
        self._copies: list[tuple[str, act.Kind, act.Array, act.Array | None, act.Array | None]] = []
        self._readings: dict[str, list[Any]] = {}  # of modules on an accelerator
        self._memory: dict[str, act.Array] = {}
        self.seconds = 0.0
        self.channels_second = False

    def arm(self) -> None:
        """Hook all modules for the coming forward pass."""
        leaves = self._layout.leaves
        new = [(name, module) for name, module in leaves if id(module) not in self._hooked]
        if self.armed and not new:
            return
        began = time.perf_counter()
        if not self.armed:
            self._turn += 1
            self._calls, self._copies, self._readings = {}, [], {}
        if new:
            self.channels_second = any(isinstance(m, CHANNELS_SECOND) for _, m in leaves)
            for name, module in new:
                hook = partial(self._hook, name, _kind(module), bool(module._parameters))
                self._handles.append(CALLS.add_after_hook(module, hook))
                self._hooked.remember(module)
        self.armed = True
        self.seconds += time.perf_counter() - began

    def disarm(self) -> None:
        """Measure no more, and forget the graph's nodes."""
        self.armed = False
        if self._seen:
            self._seen = set()

    def unhook(self) -> None:
        """Take all hooks away."""
        self.disarm()
        remove_all(self._handles)
        self._copies, self._hooked = [], LiveIds()

    def _hook(
        self,
        name: str,
        kind: act.Kind,
        weighted: bool,
        module: nn.Module,
        given: tuple[Any, ...],
        output: Any,
    ) -> None:
        if not self.armed or name in self._refused or not torch.is_grad_enabled():
            return
        outermost = self._clock.enter()
        began = time.perf_counter()
        try:
            self._measure(name, kind, weighted, given, output)
        except Exception as error:  # noqa: BLE001 - nothing may be raised inside the user's forward pass
            self._refuse(name, error)
        finally:
            self.seconds += time.perf_counter() - began
            if outermost:
                self._clock.leave()

    def _refuse(self, name: str, error: Exception) -> None:
        """The outputs of a module cannot be measured."""
        self._refused.add(name)
        self._failed(f"the output of {name}", error)

    def _measure(
        self, name: str, kind: act.Kind, weighted: bool, given: tuple[Any, ...], output: Any
    ) -> None:
        call = self._calls[name] = self._calls.get(name, 0) + 1
        found = first_tensor(output)
        if found is None or (call > 1 and (weighted or call > MOST_CALLS)):
            return
        name = f"{name}#{call}" if call > 1 else name
        taken = first_tensor(given)
        if kind and found.grad_fn is not None:
            self._seen.add(found.grad_fn._sequence_nr())
        if weighted and taken is not None and taken.grad_fn is not None:
            applied = self._function_before(taken)
            if applied:
                self._read(f"{name}.input", taken, applied, None)
        self._read(name, found, kind, taken if kind == "squasher" else None)

    def _read(self, name: str, output: torch.Tensor, kind: act.Kind, before: torch.Tensor | None) -> None:
        """Read an output. On the host some rows are copied, as another module may overwrite them, and all
        copies are measured after the pass."""
        if output.is_meta:  # stacked with readings of an accelerator it would make all of them fail
            raise TypeError("a tensor on the meta device has no values")
        spread = self._turn % RANK_EVERY == 0
        if output.is_cpu:
            rows = self._copied(name, host_rows(output, self._turn))
            inner = None if before is None else host_rows(before, self._turn).copy()
            self._copies.append((name, kind, rows, inner, host_part(output) if spread else None))
            return
        there = act.rows_of(local_part(output), self._turn)
        inside = None if before is None else act.rows_of(local_part(before), self._turn)
        made = measured_on_device(there, kind, inside, output if spread else None)
        self._readings[name] = [*made, self._silent(name, there) if kind == "rectifier" else math.nan]

    def _copied(self, name: str, rows: act.Array) -> act.Array:
        """A copy in memory that is allocated once for each module."""
        kept = self._memory.get(name)
        if kept is None or kept.shape != rows.shape or kept.dtype != rows.dtype:
            kept = self._memory[name] = np.empty_like(rows)
        np.copyto(kept, rows)
        return kept

    def _silent(self, name: str, rows: Any) -> Any:
        """The share of silent units, of a rectifier."""
        units = self._units.setdefault(name, act.Units())
        units.add(act.largest_by_unit(rows, self.channels_second), len(rows))
        return units.silent()

    def collect(self) -> dict[str, list[Any]]:
        """By module, in the order of their calls: FIELDS and the share of silent units in the sampled
        pass."""
        began = time.perf_counter()
        self.disarm()
        copies, readings = self._copies, self._readings
        self._copies, self._readings = [], {}
        for name, kind, rows, inner, part in copies:
            try:
                silent = self._silent(name, rows) if kind == "rectifier" else math.nan
                readings[name] = [*act.output_statistics(rows, kind, inner, part), silent]
            except Exception as error:  # noqa: BLE001 - other modules are measured nevertheless
                self._refuse(name, error)
        self.seconds += time.perf_counter() - began
        return readings

    def _function_before(self, taken: torch.Tensor) -> act.Kind:
        """The activation that computed the input of a module, where it was called as a function."""
        node = taken.grad_fn
        for _ in range(HOPS):
            if node is None or node._sequence_nr() in self._seen:
                return ""
            kind = FUNCTIONS.get(node.name())
            if kind:
                self._seen.add(node._sequence_nr())
                return kind
            if not node.name().startswith(PASSED):
                return ""
            node = node.next_functions[0][0]
        return ""


def _kind(module: nn.Module) -> act.Kind:
    if isinstance(module, RECTIFIERS):
        return "rectifier"
    return "squasher" if isinstance(module, SQUASHERS) else ""


def host_values(output: torch.Tensor) -> Any:
    """A tensor on the CPU as an array that shares its memory; half precision stays a tensor."""
    output = local_part(output)
    return output.numpy() if output.dtype in NATIVE else output


def host_rows(output: torch.Tensor, turn: int) -> act.Array:
    """`rows_of` a tensor on the CPU as an array; of half precision only those rows are copied."""
    rows = act.rows_of(host_values(output), turn)
    return rows.float().numpy() if isinstance(rows, torch.Tensor) else np.asarray(rows)


def host_part(output: torch.Tensor) -> act.Array | None:
    """A copy of the `rank_part` of a tensor on the CPU, in single precision."""
    part = act.rank_part(host_values(output))
    if part is None:
        return None
    return np.array(part.float().numpy() if isinstance(part, torch.Tensor) else part, np.float32)


def _rank_there(output: torch.Tensor | None) -> torch.Tensor | float:
    """`effective_rank` on the output's device, without waiting for it."""
    part = None if output is None else act.rank_part(output.detach())
    if part is None:
        return float("nan")
    part = part.float().contiguous()
    centred = part - part.mean(0)
    gram = torch.mm(centred, centred.t())
    trace, level = gram.diagonal().sum(), torch.dot(part.reshape(-1), part.reshape(-1))
    flat = gram.reshape(-1)
    return torch.where(
        trace <= 1e-10 * level, torch.zeros_like(trace), trace * trace / torch.dot(flat, flat)
    )


def measured_on_device(
    rows: torch.Tensor, kind: act.Kind, before: torch.Tensor | None, spread: torch.Tensor | None
) -> list[torch.Tensor | float]:
    """As `output_statistics`, but as tensors on the output's device (no synchronization)."""
    values = rows.detach().float()
    std, mean = torch.std_mean(values, correction=0)
    low, high = torch.aminmax(values)
    bad = (~torch.isfinite(values)).sum().float()
    edge: torch.Tensor | float = float("nan")
    if kind == "squasher" and before is not None:
        edge = (before.detach().abs() > act.SATURATED).float().mean()
    elif kind == "tanh output":
        edge = (values.abs() > act.TANH_EDGE).float().mean()
    elif kind == "sigmoid output":
        edge = ((values - 0.5).abs() > act.SIGMOID_EDGE - 0.5).float().mean()
    return [mean, std, torch.maximum(high, -low), bad, edge, _rank_there(spread)]
