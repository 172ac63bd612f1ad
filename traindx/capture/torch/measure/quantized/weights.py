"""Weights that are used quantized, and how far quantization changes them.

Quantization-aware training keeps weights in floating point and computes with a rounded copy (Jacob et al.
2018, Quantization and training of neural networks, arXiv:1712.05877; Ma et al. 2024, The era of 1-bit LLMs,
arXiv:2402.17764). However that is written (`torch.ao.quantization`, a parametrization, a layer of one's
own), the copy is an argument of `F.linear` or of a convolution. So these functions are wrapped while a pass
is sampled. Their weight is read where it is not the parameter itself. It counts as quantized where its
values are on few levels and those of the parameter are not."""

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from types import FrameType
from typing import Any

import torch
from torch import nn
from torch.fx import GraphModule

from traindx.capture.arrays.levels import JUDGED, READ, quantized_levels
from traindx.capture.process.patches import Make, Patches, remove_all, variables_of
from traindx.capture.torch.hooks import is_tracing, something_is_compiled
from traindx.capture.torch.measure.forward_pass.wrapped_functions import WrappedFunctions
from traindx.capture.torch.measure.loss.graph import nodes_of
from traindx.capture.torch.measure.quantized.levels import (
    MOVED_READ,
    QuantizedInputs,
    level_statistics,
    moved_share,
    rows_of,
)
from traindx.capture.torch.measure.tensors.views import isolate_operations, local_part
from traindx.vocabulary import Fact

EXPORTED = (
    "linear",
    "conv1d",
    "conv2d",
    "conv3d",
)  # an exported graph (PT2E) calls these in `torch.ops.aten`
FUNCTIONS = (*EXPORTED, "conv_transpose1d", "conv_transpose2d", "conv_transpose3d")
PATIENCE = 3  # passes without a computed weight, after which only every third is observed
MOST = 4  # modules that are measured in one pass: where there are more, they take turns
APART = 16  # steps between observed passes that are not sampled
NODES = 200  # of a graph in which the parameter behind a weight is looked for


class Weight:
    """What is known of a parameter that is replaced by a computed weight when it is used."""

    def __init__(self, name: str, place: int) -> None:
        self.name, self.place = name, place
        self.judged = self.unquantized = 0  # how often, and how often it was not quantized
        self.levels = 0  # 0: not quantized
        self.modes: set[bool] = set()  # with gradients, without
        self.sample: tuple[int, torch.Tensor] | None = None  # a step, and values that were used in it
        self.flips: torch.Tensor | None = None  # share of values that changed their level within one step

    def changes(self, used: torch.Tensor, step: int, training: bool, like: torch.Tensor) -> torch.Tensor:
        """Shares of the values that changed their level: within one step, and since the sample before."""
        far = self.compare(used, step, sampled=True) if training else torch.full_like(like, float("nan"))
        flips, self.flips = self.flips, None
        return torch.stack([torch.full_like(like, float("nan")) if flips is None else flips, far])

    def compare(self, used: torch.Tensor, step: int, sampled: bool) -> torch.Tensor:
        """The share that changed since the sample before. `sampled`: the next one is compared with these
        values; else this is the step after a sample, which only counts flips."""
        values = rows_of(used, MOVED_READ).detach()
        far = torch.full((), float("nan"), device=values.device)
        if self.sample is not None and self.sample[1].shape == values.shape and step > self.sample[0]:
            far = moved_share(values, self.sample[1])
            self.flips = far if step - self.sample[0] == 1 else self.flips
        if sampled:
            self.sample = (step, values.clone())
        return far


class Flow:
    """Norms of the gradient at a quantized weight and at its parameter, in the first backward pass."""

    def __init__(self, weight: torch.Tensor, parameter: torch.Tensor) -> None:
        self.once = True  # the weight was used once in the pass
        self.detached = not weight.requires_grad
        self._norms: dict[int, torch.Tensor] = {}
        self.handles: list[Any] = []
        if self.detached:
            return
        edges = [torch.autograd.graph.get_gradient_edge(t) for t in (weight, parameter)]
        # Hooks of the graph's nodes: those of tensors would be visible on the tensors.
        self.handles = [
            e.node.register_prehook(partial(self._read, i, e.output_nr)) for i, e in enumerate(edges)
        ]

    def _read(self, place: int, output: int, gradients: tuple[torch.Tensor | None, ...]) -> None:
        gradient = gradients[output]
        with isolate_operations():
            if place not in self._norms and gradient is not None and gradient.layout is torch.strided:
                self._norms[place] = torch.linalg.vector_norm(local_part(gradient).float())

    def passed(self, like: torch.Tensor) -> torch.Tensor:
        """The second norm over the first: 0 where no gradient path connects them, NaN where that is
        unknown."""
        if self.detached:
            return torch.zeros_like(like)
        if not self.once or len(self._norms) < 2:
            return torch.full_like(like, float("nan"))
        return self._norms[1] / self._norms[0]


class Quantized:
    """`readings` by module since they were taken: all numbers of FIELDS but the last, on the device of the
    weight. `name_of` gives the name of the module that owns a parameter, or None."""

    def __init__(
        self, name_of: Callable[[torch.Tensor], str | None], failed: Callable[[str, Exception], None]
    ) -> None:
        self._name_of, self._failed = name_of, failed
        self.functions, self.inputs = WrappedFunctions(self._wrappers), QuantizedInputs()
        self._weights: dict[int, Weight] = {}
        self._plain: set[int] = set()  # parameters that are used themselves in training
        self._done: set[tuple[int, bool]] = set()  # parameters of this pass, with and without gradients
        self._flows: dict[str, Flow] = {}
        self._passes = {True: 0, False: 0}
        self._fruitless = 0
        self._training = True
        self._any_used = self._evaluated = False
        self._seconds = 0.0
        self._between, self._next = 0, APART
        self._step, self._second, self._exported = 0, False, False
        self._begun: list[str] = []
        self.readings: dict[str, Any] = {}

    @property
    def wants_evaluation(self) -> bool:
        """Whether this pass without gradients is the first one since a step."""
        return not self.functions.armed and not self._evaluated

    def arm(
        self,
        models: Iterable[nn.Module],
        step: int,
        evaluated: nn.Module | None = None,
        overdue: bool = False,
    ) -> None:
        """Wrap the functions for the coming pass of these models, after so many steps. `evaluated`: the
        model whose pass without gradients has begun; then only until the next step. `overdue`: as
        `overdue()` has said."""
        self._step, self._second = step, False
        training = evaluated is None
        self._evaluated = not training
        self._passes[training] += 1
        turn = self._passes[training]
        idle = self._fruitless >= PATIENCE if training else turn > PATIENCE and not self._open
        if self.functions.armed or (idle and turn % PATIENCE and not overdue) or something_is_compiled():
            return
        self._training, self._done, self._flows = training, set(), {}
        roots = list(models)
        self._exported = any(isinstance(m, GraphModule) for root in roots for m in (root, *root.children()))
        self.functions.arm(roots, evaluated)

    def arm_again(self, models: Iterable[nn.Module], step: int) -> bool:
        """In the step after a sample with quantized weights: count the values that change their level."""
        wanted = any(w.sample is not None and w.sample[0] == step - 1 for w in self._weights.values())
        if wanted and not self.functions.armed and not something_is_compiled():
            self._training, self._done = True, set()
            self._step, self._second = step, True
            self.functions.arm(models)
        return wanted

    def _wrappers(self) -> Iterator[tuple[Any, str, Make]]:
        for owner, name in function_homes(self._exported):
            yield owner, name, self._wrapped

    @property
    def any_quantized(self) -> bool:
        """Whether any weight is quantized."""
        return any(w.levels for w in self._weights.values())

    @property
    def _open(self) -> bool:
        """Whether some weights are computed that were not quantized so far."""
        return any(not w.levels for w in self._weights.values())

    def overdue(self) -> bool:
        """Asked at each step that is not sampled: whether to observe it all the same, as quantization may
        begin at any time. The distance grows with the steps so far: by a sixteenth of them, at least
        APART."""
        self._between += 1
        if self._between < self._next or not (self._open or (self._plain and not self._weights)):
            return False
        self._next = self._between + APART + self._between // APART
        return True

    def disarm(self) -> None:
        """Put the functions back: a step is about to be made."""
        self._evaluated = False
        for flow in self._flows.values():
            remove_all(flow.handles)
        if self.functions.armed:
            self.functions.disarm()
            if self._training and not self._second:
                self._fruitless = 0 if self._done else self._fruitless + 1

    @contextmanager
    def unquantized(self) -> Iterator[list[Any]]:
        """While this is entered, functions use the parameters instead of quantized weights; the list holds
        those used."""
        exchanged: list[Any] = []

        def exchange(original: Callable[..., Any], *args: Any, **named: Any) -> Any:
            weight = args[1] if len(args) > 1 else named.get("weight")
            parameter = self._parameter_of(weight, sys._getframe(2))
            if parameter is None:
                return original(*args, **named)
            exchanged.append(parameter)
            if len(args) > 1:
                return original(args[0], parameter, *args[2:], **named)
            return original(*args, **{**named, "weight": parameter})

        patches = Patches()
        for owner, name in function_homes(self._exported):
            patches.around(owner, name, exchange)
        try:
            yield exchanged
        finally:
            patches.undo()

    def _parameter_of(self, weight: Any, frame: FrameType) -> torch.Tensor | None:
        """The parameter behind a weight that is known to be quantized."""
        if isinstance(weight, nn.Parameter) or not isinstance(weight, torch.Tensor):
            return None
        parameter = parameter_behind(weight, frame)
        known = None if parameter is None else self._weights.get(id(parameter))
        return parameter if known is not None and known.levels else None

    def take(self) -> dict[str, torch.Tensor]:
        """The readings since the last call, by module."""
        readings, flows = self.readings, self._flows
        self.readings, self._flows = {}, {}
        none = torch.tensor(float("nan"))
        passed = {n: flows[n].passed(v[0]) if n in flows else none for n, v in readings.items()}
        return {n: torch.cat([v, passed[n].to(v.device).reshape(1)]) for n, v in readings.items()}

    def take_newly_quantized(self) -> list[str]:
        """Modules whose quantization began since the last call."""
        begun, self._begun = self._begun, []
        return begun

    def take_seconds(self) -> float:
        """The time that observing took since the last call."""
        spent, self._seconds = self._seconds, 0.0
        return spent

    def _wrapped(self, original: Callable[..., Any]) -> Callable[..., Any]:
        observer = self

        def wrapper(*args: Any, **named: Any) -> Any:
            if observer.functions.armed:
                weight = args[1] if len(args) > 1 else named.get("weight")
                with isolate_operations():
                    observer._read_call(args[0] if args else named.get("input"), weight, sys._getframe(1))
            return original(*args, **named)

        return wrapper

    def _read_call(self, given: Any, weight: Any, frame: FrameType) -> None:
        if not isinstance(weight, torch.Tensor) or is_tracing():
            return
        grad, is_parameter = torch.is_grad_enabled(), isinstance(weight, nn.Parameter)
        self._any_used = True
        if is_parameter and grad:
            self._plain.add(id(weight))
        if (grad and not self._training) or weight.dim() < 2 or not weight.is_floating_point():
            return
        began = time.perf_counter()
        try:
            with torch.no_grad():
                parameter = weight if is_parameter else parameter_behind(weight, frame)
                if not is_parameter:
                    self._read_weight(weight, parameter, grad)
                if grad and not self._second and parameter is not None and self._wants_inputs:
                    name = self._name_of(parameter)
                    if name is not None:
                        self.inputs.read(name, given)
        except Exception as error:  # noqa: BLE001 - nothing may be raised inside the user's forward pass
            self.functions.disarm()
            self._failed("quantization", error)
        self._seconds += time.perf_counter() - began

    @property
    def _wants_inputs(self) -> bool:
        return self.any_quantized or self.inputs.any_quantized or self._passes[True] <= PATIENCE

    def _read_weight(self, weight: torch.Tensor, parameter: torch.Tensor | None, grad: bool) -> None:
        name = None if parameter is None else self._name_of(parameter)
        if parameter is None or name is None:
            return
        if (id(parameter), grad) in self._done:
            if grad and name in self._flows:
                self._flows[name].once = False
            return
        self._done.add((id(parameter), grad))
        known = self._weights.setdefault(id(parameter), Weight(name, len(self._weights)))
        if self._second:
            if known.sample is not None and known.sample[0] == self._step - 1:
                known.compare(weight, self._step, sampled=False)
            return
        known.judged += 1
        # Judging copies to the host, so it is done at the 1st, 2nd, 4th, 8th ... time only.
        if not known.judged & (known.judged - 1) or grad not in known.modes:
            used, stored = (rows_of(t, JUDGED).float().cpu().numpy() for t in (weight, parameter))
            levels = quantized_levels(used, stored)
            if levels:
                if not known.levels and (known.unquantized or (grad and id(parameter) in self._plain)):
                    self._begun.append(name)
                known.levels = levels
                known.modes.add(grad)
            elif grad:
                known.unquantized += 1
        if grad in known.modes and (grad or True not in known.modes) and self._has_turn(known):
            found = level_statistics(rows_of(weight, READ), rows_of(parameter, READ))
            self.readings[name] = torch.cat([found, known.changes(weight, self._step, grad, like=found[0])])
            if grad and parameter.requires_grad and name not in self._flows:
                self._flows[name] = Flow(weight, parameter)

    def _has_turn(self, known: Weight) -> bool:
        groups = -(-len(self._weights) // MOST)
        return known.place % groups == self._passes[self._training] % groups

    def facts(self) -> dict[str, Fact]:
        """`quantized_in`: training, evaluation or both."""
        if not self._any_used:
            return {}
        found = [w for w in self._weights.values() if w.levels]
        if not found:
            return {"quantized": False}
        modes = set().union(*(w.modes for w in found))
        where = "both" if len(modes) > 1 else "training" if True in modes else "evaluation"
        after_training = any(i in self._plain and w.modes == {False} for i, w in self._weights.items())
        return {
            "quantized": True,
            "quantized_levels": min(w.levels for w in found),
            "quantized_modules": len(found),
            "quantized_in": "evaluation" if after_training and where != "training" else where,
        }


def function_homes(exported: bool) -> Iterator[tuple[Any, str]]:
    """Owner and name of the functions that use weights, also of those that an `exported` graph calls."""
    yield from ((nn.functional, name) for name in FUNCTIONS)
    if exported:
        yield from ((getattr(torch.ops.aten, name), "default") for name in EXPORTED)


def parameter_behind(weight: torch.Tensor, frame: FrameType) -> torch.Tensor | None:
    """The parameter that a weight was computed from: the calling module's of that shape, where it has one
    only, else the nearest one in the graph."""
    owner = variables_of(frame).get(frame.f_code.co_varnames[0]) if frame.f_code.co_argcount else None
    same = [p for p in owner.parameters() if p.shape == weight.shape] if isinstance(owner, nn.Module) else []
    if len(same) == 1:
        return same[0]
    ends = (getattr(node, "variable", None) for node in nodes_of(weight, NODES))
    found = (p for p in ends if isinstance(p, torch.Tensor) and p.shape == weight.shape)
    return next(found, same[0] if same else None)
