"""What is looked at besides gradients, weights and activations, mostly on sampled steps: directions of
successive gradients, answers, the loss's graph, attention, quantization, equal units, curvature. Each in its own
file."""

from __future__ import annotations

import math
import sys
import time
import weakref
from typing import Any

import numpy as np
import torch
from torch import nn

from traindx.capture.arrays.batch import Data
from traindx.capture.session.backend import View
from traindx.capture.torch.measure.batches.outputs import Answers, class_counts, rows_of, sample_spread
from traindx.capture.torch.measure.batches.targets import Matched
from traindx.capture.torch.measure.by_pass.attention import Attention
from traindx.capture.torch.measure.gradients.directions import Directions
from traindx.capture.torch.measure.gradients.exchange import Exchange
from traindx.capture.torch.measure.loss.curvature import Curvature
from traindx.capture.torch.measure.loss.graph import (
    activations,
    broadcast,
    last_activation,
    reduction,
    used_plainly,
)
from traindx.capture.torch.measure.loss.retained_graphs import Keeping
from traindx.capture.torch.measure.models.equal_units import Symmetry
from traindx.capture.torch.measure.models.initial_gains import gains
from traindx.capture.torch.measure.models.tree import Tree, compiled, unwrapped
from traindx.capture.torch.measure.models.unregistered_layers import unregistered
from traindx.capture.torch.measure.quantized.loss_gap import LossGap
from traindx.capture.torch.measure.quantized.weights import Quantized
from traindx.capture.torch.measure.tensors.shards import Shards, weighted_norm
from traindx.capture.torch.measure.tensors.views import first_tensor
from traindx.vocabulary.setup import Fact

APART = 4  # steps from one pair of gradients to the next
TOLD = 3  # losses and outputs whose graphs are looked at
LATER = 8  # looks at units that started equal
NAMED = 3  # modules that a message names
START_SECONDS, SHARE = 0.05, 0.003  # time for the answers of evaluation passes, as for batches


class Closer:
    """`waiting`: there is something to do at the next step though it is not sampled."""

    def __init__(self, view: View, tree: Tree, data: Data) -> None:
        self._view, self._tree, self._data, self._habits, self._tell = (
            view,
            tree,
            data,
            view.habits,
            view.tell,
        )
        self.attention = Attention(view.dropped)
        self.quantized = Quantized(view.layout.owner_of, view.dropped)
        self.gap = LossGap(self.quantized.unquantized)
        self.seconds = 0.0
        self.curvature = Curvature() if view.curvature else None
        self.shards, self.exchange, self.keeping = Shards(), Exchange(), Keeping()
        self._symmetry, self._looks = Symmetry(), 0
        self._directions: Directions | None = None
        self._paired = self._answered = -APART
        self._held_out, self.matched = Answers(), Matched()
        self._since, self._spent = time.perf_counter(), 0.0
        self._facts: dict[str, Fact] = {}
        self._roots: list[tuple[str, weakref.ref[nn.Module]]] = []
        self._told = {"loss": 0, "outputs": 0}
        self.waiting = True

    def add_model(self, model: nn.Module, name: str) -> None:
        """A root module, and what stands before its modules' names."""
        if not compiled(model):
            self._roots.append((name, weakref.ref(unwrapped(model))))

    def _named(self) -> list[tuple[str, nn.Module]]:
        return [(name, model) for name, root in self._roots if (model := root()) is not None]

    def _models(self) -> list[nn.Module]:
        return [model for _, model in self._named()]

    def sample(self, sampling: bool) -> None:
        """Whether the coming forward passes are sampled."""
        if not sampling:
            self.attention.disarm()
            self.quantized.disarm()
            self.waiting |= self.quantized.arm_again(self._models(), self._habits.steps)
            return
        began = time.perf_counter()
        if self._view.wants("attention"):
            self.attention.arm(self._named())
        if self._view.wants("quantized"):
            self.quantized.arm(self._models(), self._habits.steps)
        self.seconds += time.perf_counter() - began

    def step_begins(self, optimizer: Any, sampled: bool, factor: float, scalars: dict[str, Any]) -> None:
        """The first optimizer (None: a loop without one) is about to use the gradients, which `factor` rids
        of a scale. Numbers are added to `scalars`."""
        began = time.perf_counter()
        self.waiting = False
        attempt = self._view.attempt
        attempt("graphs that are kept", self.keeping.look, self._habits.steps, sys._getframe(1))
        if self.shards.possible and optimizer is not None:
            own = self._view.own_parameters(optimizer)
            scalars |= attempt("exchange", self.exchange.step_begins, own, self._habits.steps) or {}
        attempt("attention", self._take, "attention", self.attention)
        if attempt("quantization", self._take, "quantized", self.quantized, sampled):
            scalars |= attempt("loss of quantization", self.gap.measure, self._habits.steps) or {}
            began += self.gap.take_seconds()  # it keeps to a share of its own
        if sampled and (inputs := self.quantized.ranges.take()):
            self._view.vectors.append(("quantized inputs", list(inputs), joined(list(inputs.values()))))
        self.gap.forget()
        if begun := self.quantized.take_begun():
            self._tell(
                "quantization-begins", f"the weights of {', '.join(begun[:NAMED])} are quantized now", False
            )
        self.seconds += self.quantized.take_seconds()
        if self._held_out.given:
            scalars |= attempt("held-out answers", self.answers) or {}
        scalars |= attempt("answers", self._matched) or {}
        if not self._symmetry.looked:
            self._facts |= attempt("initial gains", gains, self._tree.models) or {}
            self._facts |= attempt("unregistered layers", self._unregistered) or {}
        if not self._symmetry.looked or (sampled and self._symmetry.due and self._looks < LATER):
            attempt(
                "equal units", self._symmetry.look, dict(self._view.layout.alive()), self._view.layout.names
            )
            self._looks += 1
        attempt("gradient directions", self._look_at_directions, optimizer, sampled, factor, scalars)
        self.seconds += time.perf_counter() - began

    def _take(self, kind: str, looker: Attention | Quantized, wanted: bool = True) -> bool:
        """Whether something was read in the passes before this step; it is handed on."""
        looker.disarm()
        if not looker.readings or not wanted:
            return False
        names, values = looker.take()
        self._view.vectors.append((kind, names, joined(values).reshape(-1)))
        return True

    def _matched(self) -> dict[str, Any]:
        with torch.no_grad():
            return {
                name: value.detach() if not value.is_cpu else float(value)
                for name, value in self.matched.take(self._data.probabilities).items()
                if not value.is_cpu or value.isfinite()
            }

    def _matrices(self) -> list[torch.Tensor]:
        """The trained weights of all models that have two dimensions or more."""
        return [p for _, p in self._view.layout.alive() if p.dim() > 1 and p.requires_grad]

    def _unregistered(self) -> dict[str, Fact]:
        """Layers that got a gradient, and are in no optimizer and no model."""
        there = [optimizer for optimizer in self._view.optimizers if optimizer is not None]
        known = {id(p) for optimizer in there for p in self._view.own_parameters(optimizer)}
        lost = [
            found
            for model in self._models()
            for found in unregistered(model, known, lambda p: p.grad is not None)
        ]
        names = (
            {"parameters_unregistered_names": ", ".join(name for name, _ in lost[:NAMED])} if lost else {}
        )
        return {"parameters_unregistered": sum(p.numel() for _, p in lost), **names}

    def _look_at_directions(
        self, optimizer: Any, sampled: bool, factor: float, scalars: dict[str, Any]
    ) -> None:
        if self._directions is None:
            self._directions = Directions(self._view.device)
        directions, step = self._directions, self._habits.steps
        if directions.waiting:
            with np.errstate(all="ignore"):
                scalars |= directions.second(factor, self._habits.samples)
        elif (
            self._view.updates
            and self._view.wants("directions")
            and sampled
            and step - self._paired >= APART
            and type(optimizer).__name__ != "LBFGS"
        ):
            self._paired = step
            directions.first(self._view.own_parameters(optimizer), factor)
            self.waiting = True

    def outputs(self, output: Any, scalars: dict[str, Any]) -> None:
        """What a sampled training loss is fed with."""
        due = self._habits.steps - self._answered >= 2 * APART and not self._habits.backwards
        if not due or not self._view.wants("answers"):
            return
        found = first_tensor(output)
        if found is None:
            return
        began = time.perf_counter()
        self._answered = self._habits.steps
        self.matched.answer(found)
        self._look_at_answers(found, scalars)
        self.seconds += time.perf_counter() - began

    def _look_at_answers(self, output: torch.Tensor, scalars: dict[str, Any]) -> None:
        if self._told["outputs"] < TOLD:
            self._told["outputs"] += 1
            self._agree("outputs_last_activation", last_activation(output))
        rows = rows_of(output)
        if rows is not None:
            spread = sample_spread(rows)
            if rows.is_cpu and spread != spread:
                return  # not finite: that is seen elsewhere
            found: dict[str, Any] = {"outputs_sample_spread": spread}
            if self._data.classified(rows.shape[1]):
                counts = class_counts(rows, self._data.probabilities)
                found["outputs_majority_share"] = counts.max() / len(rows)
            scalars |= {n: float(v) if rows.is_cpu else v for n, v in found.items()}

    def between(self) -> None:
        """The coming step is not sampled, nor was the one before."""
        if self.quantized.overdue():
            self.quantized.arm(self._models(), self._habits.steps, overdue=True)
            self.waiting = True

    def evaluating(self, model: nn.Module) -> None:
        """A pass without gradients begins."""
        if self.quantized.wants_evaluation:
            self.quantized.arm(self._models(), self._habits.steps, unwrapped(model))
            self.waiting = True

    def held_out(self, output: Any) -> None:
        """The outputs of an evaluation pass."""
        began = time.perf_counter()
        found = first_tensor(output)
        if found is None or self._spent > START_SECONDS + SHARE * (began - self._since):
            return
        rows = rows_of(found)
        finite = rows is not None and (not rows.is_cpu or math.isfinite(float(rows.sum())))
        if rows is not None and finite and self._data.classified(rows.shape[1]):
            self._held_out.add(rows, self._data.probabilities)
            self.waiting = True
        self._spent += time.perf_counter() - began

    def answers(self) -> dict[str, Any]:
        """Of the evaluation pass before, if there was one."""
        found = self._held_out.take()
        return (
            {} if found is None else {"val_outputs_majority_share": float(found) if found.is_cpu else found}
        )

    def before_backward(self, loss: torch.Tensor, factor: float, step: int) -> dict[str, float]:
        """The loss that a backward pass is about to begin from; `factor` undoes what it was divided by.
        Returns what was measured of its curvature."""
        if self._told["loss"] < TOLD:
            self._told["loss"] += 1
            self._agree("loss_reduction_seen", reduction(loss))
            if shapes := broadcast(loss):
                self._facts["loss_broadcasts"] = shapes
            if "graph_activations" not in self._facts:
                self._facts["graph_activations"] = activations(loss)
            if "quantized" not in self._facts and (weights := self._matrices()):
                self._facts["quantized"] = False if used_plainly(loss, weights) else ""
        if self.quantized.readings:
            self.gap.lost(loss, factor)
        curvature = self.curvature
        if curvature is None or not curvature.due(step):
            return {}
        optimizers = self._view.optimizers
        parameters = self._view.own_parameters(optimizers[0] if optimizers else None)
        found = curvature.look(loss, parameters, self._tree.models, step)
        if curvature.refused:
            self._tell("not-measured", f"curvature is not measured: {curvature.refused}")
        if found is None:
            return {}
        if curvature.measured == 1:
            cost = f"{found.products} products with the Hessian, {curvature.seconds:.2g} s"
            self._tell("curvature-cost", f"curvature: one measurement took {cost}")
        return {"curvature/max": factor * found.high, "curvature/min": factor * found.low}

    @property
    def wants_losses(self) -> bool:
        """Whether `before_backward` has still something to look for."""
        curvature = self.curvature
        if self._told["loss"] < TOLD or (self.quantized.found and not self.gap.refused):
            return True
        return curvature is not None and not curvature.refused

    def _agree(self, fact: str, told: str) -> None:
        """A word that must be the same each time it is looked up."""
        self._facts[fact] = told if self._facts.get(fact, told) == told else ""

    def local_norm(self, optimizer: Any, factor: float) -> Any:
        """Of the gradients just gathered, the part of the global norm that this process holds; None where
        it holds all of it."""
        own, every = self._view.own_parameters(optimizer), self._view.all_parameters(optimizer)
        weights = self.shards.of(id(optimizer), every, self._tree.models)
        return weighted_norm(self._view.gradients_read(), weights, len(own), factor) if weights else None

    def abandon(self) -> None:
        """The step was not made."""
        self.matched.forget()
        self.exchange.forget()
        if self._directions is not None:
            self._directions.forget()

    def facts(self) -> dict[str, Fact]:
        """Of the names in docs/capture.md, those that something was seen of."""
        out = {name: value for name, value in self._facts.items() if value != ""}
        out |= self._symmetry.facts(self._view.layout.names) | self.quantized.facts()
        out |= self.keeping.facts
        if self.shards.processes > 1:
            out |= {"grad_norm_is_local": True, "grad_norm_processes": self.shards.processes}
        if self.curvature is not None and self.curvature.measured:
            out |= {
                "curvature_seconds": round(self.curvature.seconds, 3),
                "curvature_products": self.curvature.products,
                "curvature_measurements": self.curvature.measured,
            }
        return out

    def release(self) -> None:
        """Put everything back."""
        self.attention.disarm()
        self.quantized.disarm()
        self.exchange.release()


def joined(values: list[torch.Tensor]) -> Any:
    """Readings in one row: on the host an array."""
    found = torch.stack(values)
    return found.double().numpy() if found.is_cpu else found
