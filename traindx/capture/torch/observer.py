"""Observes the calls of whole models of a training in PyTorch, and measures at the right moment."""

import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import nn

from traindx.capture.process.patches import remove_all
from traindx.capture.session import Watched
from traindx.capture.torch.hooks import CALLS, LAST_MOMENTS
from traindx.capture.torch.measure.batches.answers import batch_statistics, outputs_of
from traindx.capture.torch.measure.forward_pass.module_outputs import ForwardProbe
from traindx.capture.torch.measure.loss.graph import first_nonfinite
from traindx.capture.torch.measure.models.tree import Tree, modal
from traindx.capture.torch.measure.reruns.recorded_call import observed_by_others
from traindx.capture.torch.measure.reruns.train_and_eval import Reruns
from traindx.capture.torch.measure.sampled_step import SampledStep
from traindx.capture.torch.measure.tensors.views import any_tensor, first_tensor, vector
from traindx.capture.torch.sample_axis import SampleAxis
from traindx.vocabulary import Fact

FIRST_OUTPUTS = 20  # that are all read; of n later ones about sqrt(FIRST_OUTPUTS * n) are


class TorchObserver:
    """Observes the calls of whole models, and implements every protocol of `session/observers.py`."""

    def __init__(self, view: Watched, tree: Tree) -> None:
        self._view, self.tree = view, tree
        self.probe = ForwardProbe(tree, view.dropped, view.clock)
        self.data = batch_statistics(patient=view.patient)
        self.around_step = SampledStep(view, tree, self.data)
        self.reruns = Reruns()
        self._clock, self._habits, self._failed = view.clock, view.habits, view.dropped
        self._sample_axis = SampleAxis(self._habits)
        self._handles: list[Any] = []
        self._after_handles: list[Any] = []
        self._observed: list[weakref.ref[nn.Module]] = []  # models whose calls are observed
        self._phases = True
        self._facts = view.facts_seen
        self._batches_reported = False  # somebody else reports them: the models' inputs are not read
        self._outputs_reported = False
        self._outputs_read, self._passes = 0, 0
        self.wants_outputs = True

    @property
    def wants_losses(self) -> bool:
        return self.around_step.wants_losses

    @property
    def waiting(self) -> bool:
        return self.around_step.waiting or (
            self.around_step.shards.possible and self.around_step.exchange.due
        )

    @property
    def seconds(self) -> float:
        return self.around_step.seconds + self.probe.seconds

    def add_model(self, model: nn.Module, name: str) -> None:
        parameters = [p for _, p in self._view.layout.alive() if p.requires_grad]
        self._facts.setdefault("device", str(next((p.device for p in parameters), "cpu")))
        self._facts.setdefault(
            "parameter_dtype", str(next((p.dtype for p in parameters), "")).removeprefix("torch.")
        )
        self._observe(model)
        self.around_step.add_model(model, name)
        self._sample_axis.watch(model)
        self.probe.arm()

    def add_optimizer(self, optimizer: torch.optim.Optimizer) -> None:
        """An optimizer is new or about to step: its parameters may be sharded."""
        self.around_step.shards.refresh()

    def add_part(self, part: nn.Module) -> None:
        inside = {id(p) for p in part.parameters()}
        if all(id(p) in inside for _, p in self._view.layout.alive() if p.requires_grad):
            self._observe(part)

    def _guard(self, what: str, observe: Callable[..., None], *given: Any) -> None:
        """Call `observe` inside the user's forward pass: nothing may be raised there, and the clock stands
        still."""
        outermost = self._clock.enter()
        try:
            observe(*given)
        except Exception as error:  # noqa: BLE001 - it would end the user's training
            self._failed(what, error)
        finally:
            if outermost:
                self._clock.leave()

    def _freed(self, model: nn.Module) -> None:
        """The script is about to free a model: what would be measured at the end of the recording is
        measured now."""
        self._guard("what a model does in the other mode", self._rerun, model)

    def _rerun(self, model: nn.Module) -> None:
        if self.reruns.wanted(model) and CALLS.listens() and not observed_by_others(model):
            self._facts |= self.reruns.facts()

    def _observe(self, model: nn.Module) -> None:
        """Observe the calls of a whole model."""
        depends_on_mode = any(modal(m) for m in model.modules())

        def before(model: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
            if self._handles:  # else released by a listener that was called before this one
                self._guard(
                    "the beginning of forward passes", self._begin, model, args, kwargs, depends_on_mode
                )

        self._handles.append(CALLS.add_before_hook(model, before))
        self._observed.append(weakref.ref(model))
        self._after_handles.append(CALLS.add_after_hook(model, self._after))

    def _observe_ends(self, wanted: bool) -> None:
        """Have the hooks after calls, or not."""
        if wanted != self._phases:
            self._phases = wanted
            remove_all(self._after_handles)
            there = [model for known in self._observed if (model := known()) is not None] if wanted else []
            self._after_handles = [CALLS.add_after_hook(model, self._after) for model in there]

    def _begin(self, model: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], modal: bool) -> None:
        grad = torch.is_grad_enabled()
        self._habits.forward(grad, model.training, modal)
        if not self._batches_reported:
            targets = kwargs.get("labels", kwargs.get("targets")) if kwargs else None
            self.batch(args or kwargs, targets, grad, reported=False)
        if not grad:
            self._clock.interrupted = True
            self._observe_ends(True)  # the outputs of evaluations are read
            self.around_step.begin_evaluation(model)
            return
        if "precision" not in self._facts:
            self._facts["precision"] = _precision(self._facts.get("parameter_dtype"))
        self._view.first_micro_batch()
        if self.probe.armed:
            self.reruns.record(model, args, kwargs, modal)
            if self.reruns.wanted(model):
                LAST_MOMENTS.ask(model, self._freed)
            self.around_step.gap.record(model, args, kwargs, self._habits.steps)
        self._clock.begin("forward")

    def _after(self, model: nn.Module, args: Any, output: Any) -> None:
        self._guard("the end of forward passes", self._end, output)

    def _end(self, output: Any) -> None:
        if not torch.is_grad_enabled():
            self.around_step.read_evaluation(output)
            return
        self._clock.end("forward")
        self._view.forward_end = self._clock.at()
        if not self._outputs_reported:
            self._read_outputs(output)

    def batch(self, inputs: Any, targets: Any, training: bool | None, reported: bool, *whose: Any) -> None:
        """A batch; once one was `reported`, the models' own inputs are not read. `whose`: what identifies
        its data set, and whether that is trained on."""
        self._batches_reported = self._batches_reported or (reported and inputs is not None)
        inputs = self._sample_axis.with_batch(inputs, any_tensor(inputs))
        training = torch.is_grad_enabled() if training is None else training
        if self.wants_outputs or not training:
            self._view.attempt(
                "batches", self.data.look, inputs, targets, training, self.probe.armed, *whose
            )
        elif inputs is not None:
            self.data.missed(training, *whose)
        if training and self.probe.armed and not self._habits.backwards:
            self.around_step.answers.matched.record_targets(targets)
            self.around_step.gap.call.record_targets(targets)
            self.reruns.record_targets(targets)
        if training and inputs is not None:
            found = any_tensor(inputs)
            if found is not None and found.ndim:
                self._habits.batch(self._sample_axis.samples(found))
        if training and targets is not None:
            self._sample_axis.targets(any_tensor(targets))

    def outputs(self, output: Any, classes_second: bool = False) -> None:
        """The input of the loss, reported by who has seen it."""
        if not self._outputs_reported:
            self.data.forget_outputs()  # those of the model itself, before that was known
        self._outputs_reported = True
        self._read_outputs(output, classes_second)

    def _read_outputs(self, output: Any, classes_second: bool = False) -> None:
        if self.probe.armed:
            self._view.attempt("answers", self.around_step.read_outputs, output, self._view.scalars)
        self._passes += 1
        enough = self._outputs_read * self._outputs_read > FIRST_OUTPUTS * self._passes
        if self._outputs_read >= FIRST_OUTPUTS and (enough or not self.probe.armed):
            return
        found = first_tensor(output)
        if found is not None and found.is_cpu and found.dim():
            self._outputs_read += 1
            with np.errstate(all="ignore"):
                self._view.attempt("outputs", lambda: self.data.outputs(outputs_of(found), classes_second))

    def nonfinite_loss(self, loss: Any) -> None:
        """The loss is not finite: find the operation and the module in which that began."""
        if isinstance(loss, torch.Tensor) and loss.grad_fn is not None:
            self._facts |= (
                self._view.attempt("where a loss breaks", first_nonfinite, loss, self._view.layout) or {}
            )

    def backward_begin(self) -> None:
        self.probe.disarm()
        if self.around_step.shards.possible:
            self.around_step.exchange.begin_backward()

    def before_backward(self, loss: Any, factor: float, step: int) -> dict[str, float]:
        """The graph of a loss is complete, and about to be freed."""
        if getattr(loss, "grad_fn", None) is None:
            return {}
        self._view.attempt("the first loss", self.reruns.modes.record_loss, loss, factor)
        return self._view.attempt("losses", self.around_step.read_loss, loss, factor, step) or {}

    def abandon(self) -> None:
        self.around_step.abandon()
        self.reruns.forget()
        self.around_step.gap.forget()

    def forget_freed(self) -> None:
        """A model or an optimizer is freed, and with it what was recorded for its next step."""
        self.around_step.abandon()
        self.around_step.gap.forget()

    def step_begins(self, optimizer: Any, sampled: bool, factor: float, scalars: dict[str, Any]) -> None:
        self.around_step.begin_step(optimizer, sampled, factor, scalars)

    def local_norm(self, optimizer: Any, factor: float) -> Any:
        return self.around_step.local_norm(optimizer, factor) if self.around_step.shards.possible else None

    def final_signals(self) -> dict[str, Any]:
        return self.around_step.answers.of_evaluation()

    def finish(self) -> None:
        """Hand on what the probe measured in the sampled forward pass."""
        readings = self.probe.collect()
        names = list(readings)
        values = [v for name in names for v in readings[name]]
        row: Any = vector(values) if any(isinstance(v, torch.Tensor) for v in values) else values
        if names:
            self._view.vectors.append(("activations", names, row))

    def prepare(self, before: bool, sampling: bool, phases: bool) -> None:
        """Whether the coming step is measured by module (as the one `before` was), and timed by its
        phases."""
        self._observe_ends(phases)
        if sampling and self._view.wants("activations"):
            self.probe.arm()
        elif before:
            self.probe.unhook()
        self.wants_outputs = sampling or self._outputs_read < FIRST_OUTPUTS or self.data.due
        if sampling or before:
            self.around_step.prepare(sampling)
        else:
            self.around_step.skip_step()

    def facts(self) -> dict[str, Fact]:
        """Facts of data, outputs and graphs so far."""
        attempt = self._view.attempt
        return {**(attempt("facts of the data", self.data.facts) or {}), **self.around_step.facts()}

    def release(self) -> None:
        """Take all hooks away."""
        self._facts |= self._view.attempt("reference predictors", self.data.references) or {}
        self.probe.unhook()
        self.around_step.release()
        remove_all(self._handles)
        self._sample_axis.release()
        remove_all(self._after_handles)
        self._observed = []
        LAST_MOMENTS.forget()
        self._facts |= self.reruns.facts()


def _precision(parameter_dtype: Any) -> str:
    """Mixed precision where autocast is on, else that of the parameters."""
    for device in ("cuda", "cpu"):
        if torch.is_autocast_enabled(device):
            return str(torch.get_autocast_dtype(device)).removeprefix("torch.") + "-mixed"
    return str(parameter_dtype)
