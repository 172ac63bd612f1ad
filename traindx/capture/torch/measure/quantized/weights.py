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
from contextlib import contextmanager
from functools import partial
from types import FrameType
from typing import Any

import torch
from torch import nn
from torch.fx import GraphModule

from traindx.capture.arrays.levels import JUDGED, READ, quantized_levels
from traindx.capture.process.patches import Make, Patches
from traindx.capture.process.weak import variables_of
from traindx.capture.torch.hooks import something_is_compiled, traced
from traindx.capture.torch.measure.forward_pass.wrapped_functions import Within
from traindx.capture.torch.measure.loss.graph import nodes_of
from traindx.capture.torch.measure.quantized.inputs import Ranges
from traindx.capture.torch.measure.quantized.levels import MOVED_READ, measured, moved, rows_of
from traindx.capture.torch.measure.tensors.isolation import apart
from traindx.capture.torch.measure.tensors.views import local
from traindx.vocabulary.setup import Fact

FUNCTIONS = (
    "linear",
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_transpose1d",
    "conv_transpose2d",
    "conv_transpose3d",
)
EXPORTED = (
    "linear",
    "conv1d",
    "conv2d",
    "conv3d",
)  # as an exported graph (PT2E) calls them: `torch.ops.aten`
PATIENCE = 3  # passes without a weight that is computed, after which only every third is looked at
MOST = 4  # modules that are measured in one pass: where there are more, they take turns
APART = 16  # steps between looks that are not sampled
NODES = 200  # of a graph, that the parameter behind a weight is looked for in


class Weight:
    """What is known of a parameter that something else stands in for."""

    def __init__(self, name: str, place: int) -> None:
        self.name, self.place = name, place
        self.looks = self.bare = 0  # bare: looks at which it was not quantized
        self.levels = 0  # 0: not quantized
        self.modes: set[bool] = set()  # with gradients, without
        self.kept: tuple[int, torch.Tensor] | None = None  # a step, and values that were used in it
        self.flips: torch.Tensor | None = (
            None  # share on another level than a step ago, since it was last read
        )

    def changes(self, used: torch.Tensor, step: int, training: bool, like: torch.Tensor) -> torch.Tensor:
        """Shares of the values that changed their level: in one step, and since the sample before."""
        far = self.compare(used, step, sampled=True) if training else torch.full_like(like, float("nan"))
        flips, self.flips = self.flips, None
        return torch.stack([torch.full_like(like, float("nan")) if flips is None else flips, far])

    def compare(self, used: torch.Tensor, step: int, sampled: bool) -> torch.Tensor:
        """What moved since the sample before; kept for the next one. A step after a sample tells the flips only."""
        values = rows_of(used, MOVED_READ).detach()
        far = torch.full((), float("nan"), device=values.device)
        if self.kept is not None and self.kept[1].shape == values.shape and step > self.kept[0]:
            far = moved(values, self.kept[1])
            self.flips = far if step - self.kept[0] == 1 else self.flips
        if sampled:
            self.kept = (step, values.clone())
        return far


class Flow:
    """Norms of the gradient that reaches a quantized weight, and of what becomes of it at the parameter, in the
    first backward pass; None where the weight was used more than once."""

    def __init__(self, weight: torch.Tensor, parameter: torch.Tensor) -> None:
        self.once = True
        self.detached = not weight.requires_grad
        self._norms: dict[int, torch.Tensor] = {}
        self.handles: list[Any] = []
        if self.detached:
            return
        edges = [torch.autograd.graph.get_gradient_edge(t) for t in (weight, parameter)]
        # with the graph's nodes: hooks of tensors would be seen on them
        self.handles = [
            e.node.register_prehook(partial(self._saw, i, e.output_nr)) for i, e in enumerate(edges)
        ]

    def _saw(self, place: int, output: int, gradients: tuple[torch.Tensor | None, ...]) -> None:
        gradient = gradients[output]
        with apart():
            if place not in self._norms and gradient is not None and gradient.layout is torch.strided:
                self._norms[place] = torch.linalg.vector_norm(local(gradient).float())

    def passed(self, like: torch.Tensor) -> torch.Tensor:
        """The second over the first, 0 where nothing leads from the one to the other; NaN where there is none."""
        if self.detached:
            return torch.zeros_like(like)
        if not self.once or len(self._norms) < 2:
            return torch.full_like(like, float("nan"))
        return self._norms[1] / self._norms[0]


class Quantized:
    """`readings` by name since they were taken: numbers of FIELDS (but for the last), on the device of the weight.
    `naming` gives a parameter the name of the module that owns it, or None."""

    def __init__(
        self, naming: Callable[[torch.Tensor], str | None], failed: Callable[[str, Exception], None]
    ) -> None:
        self._naming, self._failed = naming, failed
        self.within, self.ranges = Within(self._functions), Ranges()
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
        self._step, self._second, self._exported = 0, False, False
        self._begun: list[str] = []
        self.readings: dict[str, Any] = {}

    @property
    def wants_evaluation(self) -> bool:
        """Whether this pass without gradients is the first one since a step."""
        return not self.within.armed and not self._evaluated

    def arm(
        self,
        models: Iterable[nn.Module],
        step: int,
        evaluated: nn.Module | None = None,
        overdue: bool = False,
    ) -> None:
        """Wrap the functions for the coming pass of these models; for that of the model that is `evaluated` now, only
        until the next step. `step`: how many were made. `overdue`: it was said to be, and is done."""
        self._step, self._second = step, False
        training = evaluated is None
        self._evaluated = not training
        self._passes[training] += 1
        turn = self._passes[training]
        idle = self._fruitless >= PATIENCE if training else turn > PATIENCE and not self._open
        if self.within.armed or (idle and turn % PATIENCE and not overdue) or something_is_compiled():
            return
        self._training, self._done, self._flows = training, set(), {}
        roots = list(models)
        self._exported = any(isinstance(m, GraphModule) for root in roots for m in (root, *root.children()))
        self.within.arm(roots, evaluated)

    def arm_again(self, models: Iterable[nn.Module], step: int) -> bool:
        """In the step after a sample that quantized weights were seen in: to count those that change their level."""
        wanted = any(w.kept is not None and w.kept[0] == step - 1 for w in self._weights.values())
        if wanted and not self.within.armed and not something_is_compiled():
            self._training, self._done = True, set()
            self._step, self._second = step, True
            self.within.arm(models)
        return wanted

    def _functions(self) -> Iterator[tuple[Any, str, Make]]:
        for owner, name in places(self._exported):
            yield owner, name, self._wrapped

    @property
    def found(self) -> bool:
        """Whether weights were seen quantized."""
        return any(w.levels for w in self._weights.values())

    @property
    def _open(self) -> bool:
        """Whether weights are computed that were not seen quantized so far."""
        return any(not w.levels for w in self._weights.values())

    def overdue(self) -> bool:
        """Asked at each step that is not sampled: whether to look all the same, as weights may begin to be quantized
        at any time (at least APART steps from the last such look, and a sixteenth of all so far)."""
        self._between += 1
        if self._between < self._next or not (self._open or (self._plain and not self._weights)):
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
            if self._training and not self._second:
                self._fruitless = 0 if self._done else self._fruitless + 1

    @contextmanager
    def unquantized(self) -> Iterator[list[Any]]:
        """While this is entered, weights that were seen quantized are used as they are kept; the list holds them."""
        exchanged: list[Any] = []

        def wrapped(original: Callable[..., Any]) -> Callable[..., Any]:
            def wrapper(*args: Any, **named: Any) -> Any:
                weight = args[1] if len(args) > 1 else named.get("weight")
                own = None if isinstance(weight, nn.Parameter) else self._own(weight, sys._getframe(1))
                if own is None:
                    return original(*args, **named)
                exchanged.append(own)
                return (
                    original(args[0], own, *args[2:], **named)
                    if len(args) > 1
                    else original(*args, **{**named, "weight": own})
                )

            return wrapper

        patches = Patches()
        for owner, name in places(self._exported):
            patches.replace(owner, name, wrapped)
        try:
            yield exchanged
        finally:
            patches.undo()

    def _own(self, weight: Any, frame: FrameType) -> torch.Tensor | None:
        """The parameter behind a weight that was seen quantized."""
        parameter = behind(weight, frame) if isinstance(weight, torch.Tensor) else None
        known = None if parameter is None else self._weights.get(id(parameter))
        return parameter if known is not None and known.levels else None

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
                with apart():
                    watched._see(args[0] if args else named.get("input"), weight, sys._getframe(1))
            return original(*args, **named)

        return wrapper

    def _see(self, given: Any, weight: Any, frame: FrameType) -> None:
        if not isinstance(weight, torch.Tensor) or traced():
            return
        grad, own = torch.is_grad_enabled(), isinstance(weight, nn.Parameter)
        self._looked = True
        if own and grad:
            self._plain.add(id(weight))
        if (grad and not self._training) or weight.dim() < 2 or not weight.is_floating_point():
            return
        began = time.perf_counter()
        try:
            with torch.no_grad():
                parameter = weight if own else behind(weight, frame)
                if not own:
                    self._look(weight, parameter, grad)
                wanted = (
                    grad
                    and not self._second
                    and (self.found or self.ranges.found or self._passes[True] <= PATIENCE)
                )
                name = self._naming(parameter) if wanted and parameter is not None else None
                if name is not None:
                    self.ranges.look(name, given)
        except Exception as error:  # noqa: BLE001 - inside the user's forward pass nothing may be raised
            self.within.disarm()
            self._failed("quantization", error)
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
        known = self._weights.setdefault(id(parameter), Weight(name, len(self._weights)))
        if self._second:
            if known.kept is not None and known.kept[0] == self._step - 1:
                known.compare(weight, self._step, sampled=False)
            return
        known.looks += 1
        if not known.looks & (known.looks - 1) or grad not in known.modes:
            used, own = (rows_of(t, JUDGED).float().cpu().numpy() for t in (weight, parameter))
            levels = quantized_levels(used, own)
            if levels:
                if not known.levels and (known.bare or (grad and id(parameter) in self._plain)):
                    self._begun.append(name)
                known.levels = levels
                known.modes.add(grad)
            elif grad:
                known.bare += 1
        if grad in known.modes and (grad or True not in known.modes) and self._turn_of(known):
            found = measured(rows_of(weight, READ), rows_of(parameter, READ))
            self.readings[name] = torch.cat([found, known.changes(weight, self._step, grad, like=found[0])])
            if grad and parameter.requires_grad and name not in self._flows:
                self._flows[name] = Flow(weight, parameter)

    def _turn_of(self, known: Weight) -> bool:
        groups = -(-len(self._weights) // MOST)
        return known.place % groups == self._passes[self._training] % groups

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


def places(exported: bool) -> Iterator[tuple[Any, str]]:
    """Where the functions that use weights are looked up when they are called, also by a graph that was `exported`."""
    yield from ((nn.functional, name) for name in FUNCTIONS)
    if exported:
        yield from ((getattr(torch.ops.aten, name), "default") for name in EXPORTED)


def behind(weight: torch.Tensor, frame: FrameType) -> torch.Tensor | None:
    """The parameter that a weight was computed from: the calling module's of that shape, where it has one such, else
    the graph's."""
    owner = variables_of(frame).get(frame.f_code.co_varnames[0]) if frame.f_code.co_argcount else None
    own = [p for p in owner.parameters() if p.shape == weight.shape] if isinstance(owner, nn.Module) else []
    if len(own) == 1:
        return own[0]
    ends = (getattr(node, "variable", None) for node in nodes_of(weight, NODES))
    found = (p for p in ends if isinstance(p, torch.Tensor) and p.shape == weight.shape)
    return next(found, own[0] if own else None)
