"""Weights that are used quantized, and what quantization leaves of them.

Quantization-aware training keeps weights in floating point and computes with a rounded copy (Jacob et al. 2018,
Quantization and training of neural networks; Ma et al. 2024, The era of 1-bit LLMs). However that is written
(`torch.ao.quantization`, a parametrization, a layer of one's own), the copy is what `F.linear` or a convolution is
called with. So these functions are wrapped while a pass is sampled; their weight is looked at where it is not the
parameter itself, and is taken for quantized where its values lie on few levels and the parameter's do not."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from types import FrameType
from typing import Any

import numpy as np
import torch
from torch import nn

from traindx.capture.process.patches import Make
from traindx.capture.torch.hooks import traced
from traindx.capture.torch.measure.attention import something_is_compiled
from traindx.capture.torch.measure.graph import nodes_of
from traindx.capture.torch.measure.views import Array, local
from traindx.capture.torch.measure.within import Within
from traindx.vocabulary.setup import Fact

FUNCTIONS = ("linear", "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d")
JUDGED, READ = 1 << 13, 1 << 14  # values of a weight that its levels are counted in; that are measured
GRID, REPEATED = 1024, 256  # most levels: evenly spaced ones; others
TOLERANCE = 1e-5  # of the largest value: `w + (q - w).detach()` is q but for rounding
PARTS = 8  # of the least distance that are tried
STRAY = 0.03  # of a level's distance that values may lie off the grid
FEWEST = 8  # values that must have fallen on a level by more than chance
PATIENCE = 3  # passes without a weight that is computed, after which only passes 4, 8, 16 ... are looked at
APART = 16  # steps between looks that are not sampled
NODES = 200  # of a graph, that the parameter behind a weight is looked for in


class Weight:
    """What is known of a parameter that something else stands in for."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.looks = self.bare = 0  # bare: looks at which it was not quantized
        self.levels = 0  # 0: not quantized
        self.modes: set[bool] = set()  # with gradients, without


class Flow:
    """Norms of the gradient that reaches a quantized weight, and of what becomes of it at the parameter, in the
    first backward pass; None where the weight was used more than once."""

    def __init__(self, weight: torch.Tensor, parameter: torch.Tensor) -> None:
        self.once = True
        self._norms: dict[int, torch.Tensor] = {}
        edges = [torch.autograd.graph.get_gradient_edge(t) for t in (weight, parameter)]
        # with the graph's nodes: hooks of tensors would be seen on them
        self.handles = [e.node.register_prehook(partial(self._saw, i, e.output_nr)) for i, e in enumerate(edges)]

    def _saw(self, place: int, output: int, gradients: tuple[torch.Tensor | None, ...]) -> None:
        gradient = gradients[output]
        if place not in self._norms and gradient is not None and gradient.layout is torch.strided:
            self._norms[place] = torch.linalg.vector_norm(local(gradient).float())

    def passed(self, like: torch.Tensor) -> torch.Tensor:
        """The second over the first; NaN where there is none."""
        if not self.once or len(self._norms) < 2:
            return torch.full_like(like, float("nan"))
        return self._norms[1] / self._norms[0]


class Quantized:
    """`readings` by name since they were taken: numbers of FIELDS (but for the last), on the device of the weight.
    `naming` gives a parameter the name of the module that owns it, or None."""

    def __init__(self, naming: Callable[[torch.Tensor], str | None], failed: Callable[[str, Exception], None]) -> None:
        self._naming, self._failed = naming, failed
        self.within = Within(self._functions)
        self._weights: dict[int, Weight] = {}
        self._plain: set[int] = set()  # parameters that are used themselves in training
        self._done: set[tuple[int, bool]] = set()
        self._flows: dict[str, Flow] = {}
        self._passes = {True: 0, False: 0}
        self._fruitless = 0
        self._training = True
        self._looked = self._evaluated = False
        self._seconds = 0.0
        self._between, self._next = 0, APART
        self._begun: list[str] = []
        self.readings: dict[str, Any] = {}

    @property
    def wants_evaluation(self) -> bool:
        """Whether this pass without gradients is the first one since a step."""
        return not self.within.armed and not self._evaluated

    def arm(self, models: Iterable[nn.Module], evaluated: nn.Module | None = None) -> None:
        """Wrap the functions for the coming pass of these models; for that of the model that is `evaluated` now, only
        until the next step."""
        training = evaluated is None
        self._evaluated = not training
        self._passes[training] += 1
        turn = self._passes[training]
        idle = self._fruitless >= PATIENCE if training else turn > PATIENCE and not self._open
        if self.within.armed or (idle and turn & (turn - 1)) or something_is_compiled():
            return
        self._training, self._done, self._flows = training, set(), {}
        self.within.arm(models, evaluated)

    def _functions(self) -> Iterator[tuple[Any, str, Make]]:
        for name in FUNCTIONS:
            yield nn.functional, name, self._wrapped

    @property
    def _open(self) -> bool:
        """Whether weights are computed that were not seen quantized so far."""
        return any(not w.levels for w in self._weights.values())

    def overdue(self) -> bool:
        """Asked at each step that is not sampled: whether to look all the same, as weights that are computed may
        begin to be quantized at any time (at least APART steps from the last such look)."""
        self._between += 1
        if self._between < self._next or not self._open:
            return False
        self._next = self._between + APART + self._between // APART
        return True

    def disarm(self) -> None:
        """Put the functions back; a step is made."""
        self._evaluated = False
        for flow in self._flows.values():
            for handle in flow.handles:
                handle.remove()
        if self.within.armed:
            self.within.disarm()
            if self._training:
                self._fruitless = 0 if self._done else self._fruitless + 1

    def take(self) -> tuple[list[str], list[Any]]:
        """Names and readings since the last call."""
        found, flows = self.readings, self._flows
        self.readings, self._flows = {}, {}
        none = torch.tensor(float("nan"))
        passed = {n: flows[n].passed(v[0]) if n in flows else none.to(v.device) for n, v in found.items()}
        return list(found), [torch.cat([v, passed[n].to(v.device).reshape(1)]) for n, v in found.items()]

    def take_begun(self) -> list[str]:
        """Modules that were not quantized at first, and are since the last call."""
        begun, self._begun = self._begun, []
        return begun

    def take_seconds(self) -> float:
        """What looking took since the last call."""
        spent, self._seconds = self._seconds, 0.0
        return spent

    def _wrapped(self, original: Callable[..., Any]) -> Callable[..., Any]:
        watched = self

        def wrapper(*args: Any, **named: Any) -> Any:
            if watched.within.armed:
                weight = args[1] if len(args) > 1 else named.get("weight")
                watched._see(weight, sys._getframe(1))
            return original(*args, **named)

        return wrapper

    def _see(self, weight: Any, frame: FrameType) -> None:
        if not isinstance(weight, torch.Tensor) or traced():
            return
        grad = torch.is_grad_enabled()
        self._looked = True
        if isinstance(weight, nn.Parameter):
            if grad:
                self._plain.add(id(weight))
            return
        if (grad and not self._training) or weight.dim() < 2 or not weight.is_floating_point():
            return
        began = time.perf_counter()
        try:
            with torch.no_grad():
                self._look(weight, behind(weight, frame), grad)
        except Exception as error:  # noqa: BLE001 - inside the user's forward pass nothing may be raised
            self.within.disarm()
            self._failed("measuring quantization", error)
        self._seconds += time.perf_counter() - began

    def _look(self, weight: torch.Tensor, parameter: torch.Tensor | None, grad: bool) -> None:
        name = None if parameter is None else self._naming(parameter)
        if parameter is None or name is None:
            return
        if (id(parameter), grad) in self._done:
            if grad and name in self._flows:
                self._flows[name].once = False
            return
        self._done.add((id(parameter), grad))
        known = self._weights.setdefault(id(parameter), Weight(name))
        known.looks += 1
        if not known.looks & (known.looks - 1) or grad not in known.modes:
            used, own = (rows_of(t, JUDGED).float().cpu().numpy() for t in (weight, parameter))
            levels = quantized_levels(used, own)
            if levels:
                if not known.levels and known.bare:
                    self._begun.append(name)
                known.levels = levels
                known.modes.add(grad)
            elif grad:
                known.bare += 1
        if grad in known.modes and (grad or True not in known.modes):
            self.readings[name] = measured(rows_of(weight, READ), rows_of(parameter, READ))
            if weight.requires_grad and parameter.requires_grad and name not in self._flows:
                self._flows[name] = Flow(weight, parameter)

    def facts(self) -> dict[str, Fact]:
        """`quantized_in`: training, evaluation or both."""
        if not self._looked:
            return {}
        found = [w for w in self._weights.values() if w.levels]
        if not found:
            return {"quantized": False}
        modes = set().union(*(w.modes for w in found))
        where = "both" if len(modes) > 1 else "training" if True in modes else "evaluation"
        bare = any(i in self._plain and w.modes == {False} for i, w in self._weights.items())
        return {
            "quantized": True,
            "quantized_levels": min(w.levels for w in found),
            "quantized_modules": len(found),
            "quantized_in": "evaluation" if bare and where != "training" else where,
        }


def rows_of(tensor: torch.Tensor, size: int) -> torch.Tensor:
    """`[rows, values]` of a weight: one row an output, evenly spread ones where there are more values than `size`."""
    tensor = local(tensor)
    stride = max(1, -(-tensor.numel() // size))
    return tensor[::stride].reshape(len(tensor[::stride]), -1)


def behind(weight: torch.Tensor, frame: FrameType) -> torch.Tensor | None:
    """The parameter that a weight was computed from: the calling module's of that shape, else the graph's."""
    owner = frame.f_locals.get(frame.f_code.co_varnames[0]) if frame.f_code.co_argcount else None
    if isinstance(owner, nn.Module):
        own = [p for p in owner.parameters() if p.shape == weight.shape]
        if own:
            return own[0]
    ends = (getattr(node, "variable", None) for node in nodes_of(weight, NODES))
    return next((p for p in ends if isinstance(p, torch.Tensor) and p.shape == weight.shape), None)


def measured(used: torch.Tensor, own: torch.Tensor) -> torch.Tensor:
    """FIELDS, but for the last, of a quantized weight and its parameter, both `[rows, values]`: the share of zeros,
    of the commonest of zero and each row's lowest and highest level, |used - own| / |own|, and (used * own) /
    (own * own)."""
    used, own = used.float(), own.float()
    zero = (used == 0).float().mean()
    shares = [zero]
    for end in (used.amax(1, keepdim=True), used.amin(1, keepdim=True)):
        there = ((used - end).abs() <= TOLERANCE * end.abs()) & (end != 0)
        shares.append(there.float().mean())
    size = own.square().sum().clamp_min(torch.finfo(own.dtype).tiny)
    error = ((used - own).square().sum() / size).sqrt()
    return torch.stack([zero, torch.stack(shares).amax(), error, (used * own).sum() / size])


def quantized_levels(used: Array, own: Array) -> int:
    """How many levels the values of `used` lie on (`[rows, values]`), by tensor or by row; 0 where they are no fewer
    than those of the parameter, or where some are its own (pruned weights)."""
    if used.shape != own.shape or not (np.isfinite(used).all() and np.isfinite(own).all()):
        return 0
    there = used != 0
    largest = float(np.abs(own).max(initial=0.0))
    if largest == 0 or (there.any() and np.abs(used - own)[there].max() <= TOLERANCE * largest):
        return 0
    if len(steps(own.reshape(-1))) <= min(len(steps(used.reshape(-1))), own.size - 1):
        return 0
    found = [n for n in (levels(used.reshape(1, -1)), levels(used)) if n]
    return min(found, default=0)


def levels(rows: Array) -> int:
    """The most levels of a row where nearly all rows lie on few levels (their number), or on an even grid (its
    length); else 0."""
    found, by_chance = [], 0
    for row in rows:
        places = steps(row)
        count = len(places)
        if count <= min(REPEATED, row.size // 4):
            found.append(count)
            by_chance += row.size - count
        elif spacing := on_grid(places):
            found.append(spacing)
            by_chance += row.size - 2
    return max(found) if len(found) > 0.9 * len(rows) and by_chance >= FEWEST else 0


def steps(values: Array) -> Array:
    """The levels of values, ascending; what differs by TOLERANCE is one level."""
    ordered = np.sort(values)
    apart = np.diff(ordered) > TOLERANCE * float(np.abs(ordered).max(initial=0.0))
    return np.asarray(ordered[np.concatenate(([True], apart))])


def on_grid(places: Array) -> int:
    """Length of the even grid that levels are places on, in levels; 0 where they are on none. No two of a few
    values need be neighbours on it: so parts of their least distance are tried, too."""
    if len(places) == 1:
        return 1
    away = (places - places[0]) / np.diff(places).min()
    for part in range(1, PARTS + 1 if len(places) > PARTS else 2):
        finer = part * away
        if finer[-1] < GRID and np.abs(finer - np.round(finer)).max() <= STRAY:
            return round(float(finer[-1])) + 1
    return 0
