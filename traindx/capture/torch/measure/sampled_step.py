"""Everything that is measured around a step besides gradients, weights and activations, mostly on sampled
steps.

Each subject has its own file. This one says when they are measured, and hands their readings to the
session."""

import sys
import time
import weakref
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch import nn

from traindx.capture.arrays.batch import Data
from traindx.capture.session import Watched
from traindx.capture.torch.measure.batches.answers import Answers
from traindx.capture.torch.measure.by_pass import observers
from traindx.capture.torch.measure.gradients.exchange import Directions, Exchange
from traindx.capture.torch.measure.loss.curvature import Curvature
from traindx.capture.torch.measure.loss.graph import FirstGraphs
from traindx.capture.torch.measure.loss.retained_graphs import RetainedGraphs
from traindx.capture.torch.measure.models.initial_weights import (
    EqualUnits,
    FirstWeights,
    initial_gains,
    unregistered_layers,
)
from traindx.capture.torch.measure.models.tree import Tree, is_compiled, unwrap_model
from traindx.capture.torch.measure.quantized.loss_gap import LossGap
from traindx.capture.torch.measure.quantized.weights import Quantized
from traindx.capture.torch.measure.tensors.shards import Shards, weighted_norm
from traindx.capture.torch.measure.tensors.views import first_tensor
from traindx.vocabulary import Fact

APART = 4  # steps from one pair of gradients to the next
COMPARISONS = 8  # of units that started equal
NAMED = 3  # modules that a message names


class SampledStep:
    """`waiting`: there is something to do at the next step even though it is not sampled."""

    def __init__(self, view: Watched, tree: Tree, data: Data) -> None:
        self._view, self._tree, self._habits = view, tree, view.habits
        self.by_pass = observers(view.dropped)
        self.quantized = Quantized(view.layout.owner_of, view.dropped)
        self.gap = LossGap(self.quantized.unquantized)
        self.seconds = 0.0
        self.curvature = Curvature() if view.curvature else None
        self.shards, self.exchange, self.retained = Shards(), Exchange(), RetainedGraphs()
        self.answers, self.graphs = Answers(data), FirstGraphs()
        self._equal_units, self._comparisons, self._first = EqualUnits(), 0, FirstWeights()
        self._directions: Directions | None = None
        self._paired = -APART
        self._facts: dict[str, Fact] = {}
        self._roots: list[tuple[str, weakref.ref[nn.Module]]] = []
        self.waiting = True

    def add_model(self, model: nn.Module, name: str) -> None:
        """A root module, and the prefix of its modules' names."""
        if not is_compiled(model):
            self._roots.append((name, weakref.ref(unwrap_model(model))))

    def _named_models(self) -> list[tuple[str, nn.Module]]:
        return [(name, model) for name, root in self._roots if (model := root()) is not None]

    def _models(self) -> list[nn.Module]:
        return [model for _, model in self._named_models()]

    # Before a step.

    def prepare(self, sampled: bool) -> None:
        """Whether the coming forward passes are sampled."""
        if not sampled:
            self._disarm()
            self.waiting |= self.quantized.arm_again(self._models(), self._habits.steps)
            return
        began = time.perf_counter()
        for kind, observer in self.by_pass.items():
            if self._view.wants(kind):
                observer.arm(self._named_models())
        if self._view.wants("quantized"):
            self.quantized.arm(self._models(), self._habits.steps)
        self.seconds += time.perf_counter() - began

    def skip_step(self) -> None:
        """The coming step is not sampled, nor was the one before."""
        if self.quantized.overdue():
            self.quantized.arm(self._models(), self._habits.steps, overdue=True)
            self.waiting = True

    def begin_evaluation(self, model: nn.Module) -> None:
        """A pass without gradients begins."""
        if self.quantized.wants_evaluation:
            self.quantized.arm(self._models(), self._habits.steps, unwrap_model(model))
            self.waiting = True

    def read_evaluation(self, output: Any) -> None:
        """The outputs of an evaluation pass."""
        self.waiting |= self.answers.read_evaluation(output)

    def read_outputs(self, output: Any, scalars: dict[str, Any]) -> None:
        """The input of a sampled training loss."""
        steps = self._habits.steps
        if not self.answers.due(steps) or self._habits.backwards or not self._view.wants("answers"):
            return
        found = first_tensor(output)
        if found is None:
            return
        began = time.perf_counter()
        self.graphs.read_output(found)
        scalars |= self.answers.read(found, steps)
        self.seconds += time.perf_counter() - began

    def read_loss(self, loss: torch.Tensor, factor: float, step: int) -> dict[str, float]:
        """The loss that a backward pass is about to begin from. `factor` undoes what it was divided by.
        Returns the signals of its curvature."""
        if self.graphs.wants_losses:
            trained = [p for _, p in self._view.layout.alive() if p.requires_grad]
            self.graphs.read_loss(loss, [p for p in trained if p.dim() > 1])
        if self.quantized.readings:
            self.gap.record_loss(loss, factor)
        if self.curvature is None or not self.curvature.due(step):
            return {}
        return self._measure_curvature(self.curvature, loss, factor, step)

    def _measure_curvature(
        self, curvature: Curvature, loss: torch.Tensor, factor: float, step: int
    ) -> dict[str, float]:
        optimizers = self._view.optimizers
        parameters = self._view.own_parameters(optimizers[0] if optimizers else None)
        found = curvature.measure(loss, parameters, self._tree.models, step)
        if curvature.refused:
            self._view.tell("not-measured", f"curvature is not measured: {curvature.refused}")
        if found is None:
            return {}
        if curvature.measured == 1:
            cost = f"{found.products} products with the Hessian, {curvature.seconds:.2g} s"
            self._view.tell("curvature-cost", f"curvature: one measurement took {cost}")
        return {"curvature/max": factor * found.high, "curvature/min": factor * found.low}

    @property
    def wants_losses(self) -> bool:
        """Whether `read_loss` still has something to read."""
        if self.graphs.wants_losses or (self.quantized.any_quantized and not self.gap.refused):
            return True
        return self.curvature is not None and not self.curvature.refused

    # At a step.

    def begin_step(self, optimizer: Any, sampled: bool, factor: float, scalars: dict[str, Any]) -> None:
        """The first optimizer (None: a loop without one) is about to use the gradients; `factor` undoes
        their scale. Signals are added to `scalars`."""
        began = time.perf_counter()
        self.waiting = False
        attempt, steps = self._view.attempt, self._habits.steps
        attempt("retained graphs", self.retained.look, steps, sys._getframe(1))
        if self.shards.possible and optimizer is not None:
            own = self._view.own_parameters(optimizer)
            scalars |= attempt("exchange", self.exchange.begin_step, own, steps) or {}
        for kind, observer in self.by_pass.items():
            observer.disarm()
            self._hand_on(kind, attempt(kind, observer.take) or {})
        began += self._take_quantized(sampled, scalars)
        scalars |= attempt("held-out answers", self.answers.of_evaluation) or {}
        scalars |= attempt("answers", self.answers.against_targets) or {}
        self._inspect_models(sampled)
        attempt("gradient directions", self._measure_directions, optimizer, sampled, factor, scalars)
        self.seconds += time.perf_counter() - began

    def _hand_on(self, kind: str, readings: Mapping[str, torch.Tensor]) -> None:
        """Give the session one row of readings by module: on the host as an array."""
        if readings:
            row = torch.stack(list(readings.values()))
            made: Any = row.double().numpy() if row.is_cpu else row
            self._view.vectors.append((kind, list(readings), made.reshape(-1)))

    def _take_quantized(self, sampled: bool, scalars: dict[str, Any]) -> float:
        """Hand on what was read of quantized weights. Returns the seconds that the loss gap took: it has its own
        time limit, and must not make other measurements rarer."""
        quantized, attempt, seconds = self.quantized, self._view.attempt, 0.0
        quantized.disarm()
        if quantized.readings and sampled:
            attempt("quantization", lambda: self._hand_on("quantized", quantized.take()))
            scalars |= attempt("loss of quantization", self.gap.measure, self._habits.steps) or {}
            seconds = self.gap.take_seconds()
        if sampled:
            self._hand_on("quantized inputs", quantized.inputs.take())
        self.gap.forget()
        if begun := quantized.take_newly_quantized():
            message = f"the weights of {', '.join(begun[:NAMED])} are quantized now"
            self._view.tell("quantization-begins", message, False)
        self.seconds += quantized.take_seconds()
        return seconds

    def _inspect_models(self, sampled: bool) -> None:
        """The weights before the first step, and equal units again a few times later."""
        attempt, units, first = self._view.attempt, self._equal_units, not self._equal_units.inspected
        if first:
            self._facts |= attempt("initial gains", initial_gains, self._tree.models) or {}
            self._facts |= attempt("unregistered layers", self._unregistered) or {}
            attempt("first weights", self._first.inspect, dict(self._view.layout.alive()))
        if first or (sampled and units.due and self._comparisons < COMPARISONS):
            layout = self._view.layout
            attempt("equal units", units.inspect, dict(layout.alive()), layout.names)
            self._comparisons += 1

    def _unregistered(self) -> dict[str, Fact]:
        """Layers that got a gradient, and are in no optimizer and no model."""
        there = [optimizer for optimizer in self._view.optimizers if optimizer is not None]
        known = {id(p) for optimizer in there for p in self._view.own_parameters(optimizer)}
        found = [
            layer
            for model in self._models()
            for layer in unregistered_layers(model, known, lambda p: p.grad is not None)
        ]
        facts: dict[str, Fact] = {"parameters_unregistered": sum(p.numel() for _, p in found)}
        if found:
            facts["parameters_unregistered_names"] = ", ".join(name for name, _ in found[:NAMED])
        return facts

    def _measure_directions(
        self, optimizer: Any, sampled: bool, factor: float, scalars: dict[str, Any]
    ) -> None:
        if self._directions is None:
            self._directions = Directions(self._view.device)
        directions, view, step = self._directions, self._view, self._habits.steps
        if directions.waiting:
            with np.errstate(all="ignore"):
                scalars |= directions.second(factor, self._habits.samples)
            return
        due = sampled and view.updates and view.wants("directions") and step - self._paired >= APART
        if due and type(optimizer).__name__ != "LBFGS":  # its step computes several gradients
            self._paired = step
            directions.first(view.own_parameters(optimizer), factor)
            self.waiting = True

    def local_norm(self, optimizer: Any, factor: float) -> Any:
        """Of the gradients just read, the part of the global norm that this process holds; None where it
        holds all of it."""
        own, every = self._view.own_parameters(optimizer), self._view.all_parameters(optimizer)
        weights = self.shards.weights(id(optimizer), every, self._tree.models)
        return weighted_norm(self._view.gradients_read(), weights, len(own), factor) if weights else None

    # At the end.

    def abandon(self) -> None:
        """The step was not made."""
        self.answers.matched.forget()
        self.exchange.forget()
        if self._directions is not None:
            self._directions.forget()

    def facts(self) -> dict[str, Fact]:
        """Of the facts in docs/capture.md, those that something is known of."""
        found = {name: value for name, value in (self._facts | self.graphs.facts).items() if value != ""}
        found |= self._equal_units.facts(self._view.layout.names) | self.quantized.facts()
        layout = self._view.layout
        found |= self._view.attempt("first weights", self._first.facts, dict(layout.alive())) or {}
        found |= self.retained.facts
        if self.shards.processes > 1:
            found |= {"grad_norm_is_local": True, "grad_norm_processes": self.shards.processes}
        return found if self.curvature is None else found | self.curvature.facts()

    def release(self) -> None:
        """Put everything back."""
        self._disarm()
        self.exchange.release()

    def _disarm(self) -> None:
        for observer in self.by_pass.values():
            observer.disarm()
        self.quantized.disarm()
