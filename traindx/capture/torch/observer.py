"""What is heard of a training in PyTorch: the calls of whole models, and measuring at the right moment."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import nn

from traindx.capture.session.backend import View
from traindx.capture.torch.hooks import CALLS, LAST_MOMENTS
from traindx.capture.torch.measure.batches.arrays import data, outputs_of
from traindx.capture.torch.measure.forward_pass.module_outputs import ForwardProbe
from traindx.capture.torch.measure.loss.nonfinite_origin import first_nonfinite
from traindx.capture.torch.measure.models.tree import Tree, modal
from traindx.capture.torch.measure.reruns.future_tokens import Future
from traindx.capture.torch.measure.reruns.recorded_call import watched_by_others
from traindx.capture.torch.measure.reruns.train_and_eval import Modes
from traindx.capture.torch.measure.sampled_step import Closer
from traindx.capture.torch.measure.tensors.views import any_tensor, first_tensor
from traindx.vocabulary.setup import Fact

CLOSE_LOOKS = 20  # first outputs that are all looked at; of n later ones about sqrt(CLOSE_LOOKS * n) are


class TorchObserver:
    """Listens to the calls of whole models, and implements every protocol of `session/observers.py`."""

    def __init__(self, view: View, tree: Tree) -> None:
        self._view, self.tree = view, tree
        self.probe = ForwardProbe(tree, view.dropped, view.clock)
        self.data = data(patient=view.patient)
        self.closer = Closer(view, tree, self.data)
        self.future = Future()
        self.modes = Modes()
        self._clock, self._habits, self._failed = view.clock, view.habits, view.dropped
        self._handles: list[Any] = []
        self._after_handles: list[Any] = []
        self._heard: list[weakref.ref[nn.Module]] = []  # whose calls are listened to
        self._phases = True
        self._facts = view.facts_seen
        self._told_batches = False
        self._told_outputs = False
        self._looks, self._passed = 0, 0
        self.wants_outputs = True

    @property
    def wants_losses(self) -> bool:
        return self.closer.wants_losses

    @property
    def waiting(self) -> bool:
        return self.closer.waiting or (self.closer.shards.possible and self.closer.exchange.due)

    @property
    def seconds(self) -> float:
        return self.closer.seconds + self.probe.seconds

    def add_model(self, model: nn.Module, name: str) -> None:
        parameters = [p for _, p in self._view.layout.alive() if p.requires_grad]
        self._facts.setdefault("device", str(next((p.device for p in parameters), "cpu")))
        self._facts.setdefault(
            "parameter_dtype", str(next((p.dtype for p in parameters), "")).removeprefix("torch.")
        )
        self._hear(model)
        self.closer.add_model(model, name)
        self.probe.arm()

    def add_optimizer(self, optimizer: torch.optim.Optimizer) -> None:
        """An optimizer is new, or at work: what it holds may be in parts."""
        self.closer.shards.look()

    def add_part(self, part: nn.Module) -> None:
        own = {id(p) for p in part.parameters()}
        if all(id(p) in own for _, p in self._view.layout.alive() if p.requires_grad):
            self._hear(part)

    def _goes(self, model: nn.Module) -> None:
        """The script lets a model go: what is else asked when the recording ends is asked now."""
        outermost = self._clock.enter()
        try:
            asked = self.future.asks(model) or self.modes.asks(model)
            if asked and CALLS.listens() and not watched_by_others(model):
                self._facts |= self.future.facts() | self.modes.facts()
        except Exception as error:  # noqa: BLE001 - nothing may be raised where the user's model goes
            self._failed("what a model does in the other mode", error)
        finally:
            if outermost:
                self._clock.leave()

    def _hear(self, model: nn.Module) -> None:
        """Listen to the calls of a whole model."""
        tells = any(modal(m) for m in model.modules())
        self._handles.append(CALLS.hear_before(model, self._before(tells)))
        self._heard.append(weakref.ref(model))
        self._after_handles.append(CALLS.hear_after(model, self._after))

    def _hear_ends(self, wanted: bool) -> None:
        """Have the hooks after calls, or not."""
        if wanted != self._phases:
            self._phases = wanted
            for handle in self._after_handles:
                handle.remove()
            there = [model for heard in self._heard if (model := heard()) is not None] if wanted else []
            self._after_handles = [CALLS.hear_after(model, self._after) for model in there]

    def _before(self, tells: bool) -> Callable[..., None]:
        def hook(model: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
            if not self._handles:
                return  # taken away by one that was told before this one
            outermost = self._clock.enter()
            try:
                self._begins(model, args, kwargs, tells)
            except Exception as error:  # noqa: BLE001 - nothing may be raised inside the user's forward pass
                self._failed("the beginning of forward passes", error)
            finally:
                if outermost:
                    self._clock.leave()

        return hook

    def _begins(self, model: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], tells: bool) -> None:
        grad = torch.is_grad_enabled()
        self._habits.forward(grad, model.training, tells)
        if not self._told_batches:
            targets = kwargs.get("labels", kwargs.get("targets")) if kwargs else None
            self.batch(args or kwargs, targets, grad, told=False)
        if not grad:
            self._clock.interrupted = True
            self._hear_ends(True)  # the outputs of evaluations are looked at
            self.closer.evaluating(model)
            return
        if "precision" not in self._facts:
            self._facts["precision"] = _precision(self._facts.get("parameter_dtype"))
        self._view.first_micro_batch()
        if self.probe.armed:
            self.future.called(model, args, kwargs)
            if tells:
                self.modes.called(model, args, kwargs)
            if self.future.asks(model) or self.modes.asks(model):
                LAST_MOMENTS.ask(model, self._goes)
            self.closer.gap.called(model, args, kwargs, self._habits.steps)
        self._clock.begin("forward")

    def _after(self, model: nn.Module, args: Any, output: Any) -> None:
        outermost = self._clock.enter()
        try:
            if not torch.is_grad_enabled():
                self.closer.held_out(output)
                return
            self._clock.end("forward")
            self._view.forward_end = self._clock.at()
            if not self._told_outputs:
                self._look_at_outputs(output)
        except Exception as error:  # noqa: BLE001 - nothing may be raised inside the user's forward pass
            self._failed("the end of forward passes", error)
        finally:
            if outermost:
                self._clock.leave()

    def batch(self, inputs: Any, targets: Any, training: bool | None, told: bool, *whose: Any) -> None:
        """A batch passes by; once one was told, the models' own inputs are not looked at. `whose`: a mark
        of its data set, and whether that is trained on."""
        self._told_batches = self._told_batches or (told and inputs is not None)
        training = torch.is_grad_enabled() if training is None else training
        if self.wants_outputs or not training:
            self._view.attempt(
                "batches", self.data.look, inputs, targets, training, self.probe.armed, *whose
            )
        elif inputs is not None:
            self.data.missed(training, *whose)
        if training and self.probe.armed and not self._habits.backwards:
            self.closer.matched.want(targets)
            self.future.want(targets)
            self.modes.want(targets)
            self.closer.gap.want(targets)
        if training and inputs is not None:
            found = any_tensor(inputs)
            if found is not None and found.ndim:
                self._habits.samples += found.shape[0]

    def outputs(self, output: Any) -> None:
        """What the loss is fed with, told by who sees it."""
        if not self._told_outputs:
            self.data.forget_outputs()  # those of the model itself, before that was known
        self._told_outputs = True
        self._look_at_outputs(output)

    def _look_at_outputs(self, output: Any) -> None:
        if self.probe.armed:
            self._view.attempt("answers", self.closer.outputs, output, self._view.scalars)
        self._passed += 1
        enough = self._looks * self._looks > CLOSE_LOOKS * self._passed
        if self._looks >= CLOSE_LOOKS and (enough or not self.probe.armed):
            return
        found = first_tensor(output)
        if found is not None and found.is_cpu and found.dim():
            self._looks += 1
            with np.errstate(all="ignore"):
                self._view.attempt("outputs", lambda: self.data.outputs(outputs_of(found)))

    def nonfinite_loss(self, loss: Any) -> None:
        """The loss is not finite: the operation and the module in which that began."""
        if isinstance(loss, torch.Tensor) and loss.grad_fn is not None:
            self._facts |= (
                self._view.attempt("where a loss breaks", first_nonfinite, loss, self._view.layout) or {}
            )

    def backward_begin(self) -> None:
        self.probe.disarm()
        if self.closer.shards.possible:
            self.closer.exchange.backward_begins()

    def before_backward(self, loss: Any, factor: float, step: int) -> dict[str, float]:
        """The graph of a loss is whole, and about to be gone."""
        if getattr(loss, "grad_fn", None) is None:
            return {}
        self._view.attempt("the first loss", self.modes.lost, loss, factor)
        return self._view.attempt("losses", self.closer.before_backward, loss, factor, step) or {}

    def abandon(self) -> None:
        self.closer.abandon()
        self.future.forget()
        self.modes.forget()
        self.closer.gap.forget()

    def forget_freed(self) -> None:
        """A model or an optimizer is gone, and what was kept for its next step with it."""
        self.closer.abandon()
        self.closer.gap.forget()

    def step_begins(self, optimizer: Any, sampled: bool, factor: float, scalars: dict[str, Any]) -> None:
        self.closer.step_begins(optimizer, sampled, factor, scalars)

    def local_norm(self, optimizer: Any, factor: float) -> Any:
        return self.closer.local_norm(optimizer, factor) if self.closer.shards.possible else None

    def final_signals(self) -> dict[str, Any]:
        return self.closer.answers()

    def finish(self) -> None:
        """Take over what the probe saw in the sampled forward pass."""
        readings = self.probe.collect()
        names = list(readings)
        values = [v for name in names for v in readings[name]]
        tensors = [v for v in values if isinstance(v, torch.Tensor)]
        made: Any = values
        if tensors:
            device = tensors[0].device
            filled = [v if isinstance(v, torch.Tensor) else torch.full((), v, device=device) for v in values]
            made = torch.stack([v.detach().float().to(device) for v in filled])
        if names:
            self._view.vectors.append(("activations", names, made))

    def prepare(self, before: bool, sampling: bool, phases: bool) -> None:
        """Whether the coming step is measured by module (as the one `before` was), and timed by its phases."""
        self._hear_ends(phases)
        if sampling and self._view.wants("activations"):
            self.probe.arm()
        elif before:
            self.probe.unhook()
        self.wants_outputs = sampling or self._looks < CLOSE_LOOKS or self.data.due
        if sampling or before:
            self.closer.sample(sampling)
        else:
            self.closer.between()

    def facts(self) -> dict[str, Fact]:
        """What was seen of data, answers and graphs so far."""
        attempt = self._view.attempt
        return {**(attempt("facts of the data", self.data.facts) or {}), **self.closer.facts()}

    def release(self) -> None:
        """Take all hooks away."""
        self._facts |= self._view.attempt("reference predictors", self.data.references) or {}
        self.probe.unhook()
        self.closer.release()
        for handle in (*self._handles, *self._after_handles):
            handle.remove()
        self._handles, self._after_handles, self._heard = [], [], []
        LAST_MOMENTS.forget()
        self._facts |= self.future.facts() | self.modes.facts()


def _precision(parameter_dtype: Any) -> str:
    """Mixed precision where autocast is on, else that of the parameters."""
    for device in ("cuda", "cpu"):
        if torch.is_autocast_enabled(device):
            return str(torch.get_autocast_dtype(device)).removeprefix("torch.") + "-mixed"
    return str(parameter_dtype)
