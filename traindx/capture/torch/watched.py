"""The parts of a session that touch PyTorch: hooks on whole models, and measuring at the right moment."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import nn

from traindx.capture.session.clock import Clock, Habits, number
from traindx.capture.torch.measure.batch import Data
from traindx.capture.torch.measure.closer import Closer, Tell, closer_panels
from traindx.capture.torch.measure.layout import DROPOUTS, NORMS, architecture
from traindx.capture.torch.measure.noise import NoiseScale
from traindx.capture.torch.measure.origin import first_nonfinite
from traindx.capture.torch.measure.shards import whole_number
from traindx.capture.torch.measure.steps import Measures
from traindx.capture.torch.measure.views import any_tensor, first_tensor
from traindx.vocabulary.setup import Fact

CLOSE_LOOKS = 20  # first outputs that are all looked at; of n later ones about sqrt(CLOSE_LOOKS * n) are
SMALLEST = 3  # parameters in which gradients left over from the last step are looked for


class Watched:
    """Models and optimizers of a session, the hooks on them, and what they tell."""

    def __init__(
        self, clock: Clock, habits: Habits, failed: Callable[[str, Exception], None], tell: Tell, *, updates: bool
    ) -> None:
        self.measures = Measures(failed, clock)
        self.data = Data()
        self.closer = Closer(self.measures, self.data, habits, failed, tell, copies=updates)
        self._clock, self._habits, self._failed = clock, habits, failed
        self._updates = updates
        self._handles: list[Any] = []
        self._after_handles: list[Any] = []
        self._heard: list[nn.Module] = []  # that have hooks on their calls
        self._phases = True
        self._facts: dict[str, Fact] = {}
        self._scalars: dict[str, Any] = {}
        self._clip: tuple[Any, float] | None = None
        self._zeroed = False
        self._told_batches = False
        self._told_outputs = False
        self._forward_end: float | None = None
        self._small: list[torch.Tensor] = []
        self._looks, self._passed = 0, 0
        self.sampling = self.curious = True
        self._noise, self._first_norm = NoiseScale(), 0.0

    @property
    def optimizers(self) -> list[torch.optim.Optimizer]:
        return self.measures.optimizers

    def add_model(self, model: nn.Module, name: str) -> None:
        if not self.measures.layout.add_model(model, name):
            return
        for fact, value in architecture(model).items():
            self._facts.setdefault(fact, value)
        parameters = [p for p in self.measures.layout.parameters if p.requires_grad]
        self._small = sorted(parameters, key=lambda p: p.numel())[:SMALLEST]
        self._facts.setdefault("device", str(next((p.device for p in parameters), "cpu")))
        self._facts.setdefault("parameter_dtype", str(next((p.dtype for p in parameters), "")).removeprefix("torch."))
        self._hear(model)
        self.closer.add_model(model, name)
        self.measures.probe.arm()

    def called(self, part: nn.Module) -> None:
        own = {id(p) for p in part.parameters()}
        if all(id(p) in own for p in self.measures.layout.parameters if p.requires_grad):
            self._hear(part)

    def _hear(self, model: nn.Module) -> None:
        """Hooks on the calls of a whole model (those of what is compiled whole would be compiled)."""
        if getattr(model, "_compiled_call_impl", None) is None:
            tells = any(isinstance(m, DROPOUTS + NORMS[:1]) for m in model.modules())
            self._handles.append(model.register_forward_pre_hook(self._before(tells), with_kwargs=True))
            self._heard.append(model)
            self._after_handles.append(model.register_forward_hook(self._after))

    def _hear_ends(self, wanted: bool) -> None:
        """Have the hooks after calls, or not."""
        if wanted != self._phases:
            self._phases = wanted
            for handle in self._after_handles:
                handle.remove()
            self._after_handles = [m.register_forward_hook(self._after) for m in self._heard] if wanted else []

    def add_optimizer(self, optimizer: torch.optim.Optimizer) -> bool:
        """Whether it was not known before."""
        before = len(self.optimizers)
        self.measures.add_optimizer(optimizer)
        self.closer.shards.look()
        return len(self.optimizers) > before

    def _before(self, tells: bool) -> Callable[..., None]:
        def hook(model: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any] | None = None) -> None:
            if not self._handles:
                return  # taken away by a hook before this one: PyTorch calls it all the same, without `kwargs`
            outermost = self._clock.enter()
            try:
                self._begins(model, args, kwargs or {}, tells)
            except Exception as error:  # noqa: BLE001 - nothing may be raised inside the user's forward pass
                self._failed("the hook before a forward pass", error)
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
            self.closer.evaluating()
            return
        if "precision" not in self._facts:
            self._facts["precision"] = _precision(self._facts.get("parameter_dtype"))
        if self.sampling and self._habits.backwards == 1 and not self._first_norm:
            self._first_micro_batch()
        self._clock.begin("forward")

    def _after(self, model: nn.Module, args: Any, output: Any) -> None:
        outermost = self._clock.enter()
        try:
            if not torch.is_grad_enabled():
                self.closer.held_out(output)
                return
            self._clock.end("forward")
            self._forward_end = self._clock.at()
            if not self._told_outputs:
                self._look_at_outputs(output)
        except Exception as error:  # noqa: BLE001 - nothing may be raised inside the user's forward pass
            self._failed("the hook after a forward pass", error)
        finally:
            if outermost:
                self._clock.leave()

    def batch(self, inputs: Any, targets: Any, training: bool | None, told: bool, *whose: Any) -> None:
        """A batch passes by; once one was told, the models' own inputs are not looked at. `whose`: a mark
        of its data set, and whether that is trained on."""
        self._told_batches = self._told_batches or (told and inputs is not None)
        training = torch.is_grad_enabled() if training is None else training
        if self.curious or not training:
            self.data.look(inputs, targets, training, self.measures.probe.armed, *whose)
        elif inputs is not None:
            self.data.missed(training, *whose)
        if training and self.measures.probe.armed and not self._habits.backwards:
            self.closer.matched.want(targets)
        if training and inputs is not None:
            found = any_tensor(inputs)
            if found is not None and found.ndim:
                self._habits.samples += found.shape[0]

    def outputs(self, output: Any) -> None:
        """What the loss is fed with, told by who sees it."""
        self._told_outputs = True
        self._look_at_outputs(output)

    def _look_at_outputs(self, output: Any) -> None:
        if self.measures.probe.armed:
            self.closer.outputs(output, self._scalars)
        self._passed += 1
        enough = self._looks * self._looks > CLOSE_LOOKS * self._passed
        if self._looks >= CLOSE_LOOKS and (enough or not self.measures.probe.armed):
            return
        found = first_tensor(output)
        if found is not None and found.is_cpu and found.dim():
            self._looks += 1
            with np.errstate(all="ignore"):
                self.data.outputs(found)

    def origin(self, loss: Any) -> None:
        """The loss is not finite: the operation and the module in which that began."""
        if isinstance(loss, torch.Tensor) and loss.grad_fn is not None:
            self._facts |= first_nonfinite(loss, self.measures.layout)

    def stale(self) -> bool | None:
        """Whether gradients of the step before are still there as a backward pass begins."""
        if self._zeroed or not self._small:
            return False if self._zeroed else None
        there = [p.grad for p in self._small if p.grad is not None]
        if not there or self.measures.device:
            return bool(there)
        return any(bool(g.detach().any()) for g in there)

    def backward_begin(self) -> None:
        self.measures.probe.disarm()

    def _first_micro_batch(self) -> None:
        """The model is called again before a step: the gradients there are of the first micro-batch."""
        if self.optimizers and not self.measures.device:
            began = time.perf_counter()
            self._first_norm = self.measures.norm_so_far(self.optimizers[0])
            self.measures.seconds += time.perf_counter() - began

    def _noise_scale(self) -> None:
        total, self._first_norm, first = self._scalars.get("grad_norm"), 0.0, self._first_norm
        if first and isinstance(total, float):
            found = self._noise.add(first, total, self._habits.samples, self._habits.backwards)
            if found == found:
                self._scalars["grad_noise_scale"] = found

    def clipped(self, norm: Any, threshold: float) -> None:
        whole = number(whole_number(norm))
        self._clip = None if whole is None else (whole, threshold)

    def zeroed(self) -> None:
        self._zeroed = True

    def abandon(self) -> None:
        """The step was not made: what was measured for it is forgotten."""
        self._clip, self._first_norm = None, 0.0
        self.closer.abandon()
        self.measures.take()

    def step_begin(self, optimizer: Any, sampled: bool) -> None:
        if optimizer is not None:
            if id(optimizer) not in self.measures.held:
                self.add_optimizer(optimizer)
                self._facts.setdefault("optimizers", len(self.optimizers))
            elif sampled:
                self.closer.shards.look()
            if self._forward_end is not None and self._habits.backwards <= 1:
                self._clock.guess("backward", self._clock.at() - self._forward_end)
            self._forward_end = None
        factor = self._gradients(optimizer)
        if sampled and self._updates:
            self.measures.begin(optimizer)
        if (sampled or self.closer.waiting) and (optimizer is None or optimizer is self.optimizers[0]):
            self.closer.step_begins(optimizer, sampled, factor, self._scalars)

    def _gradients(self, optimizer: Any) -> float:
        """Norms of the gradients in use; before clipping, and without a loss scale. Returns the factor
        that undoes both."""
        scale = getattr(optimizer, "grad_scale", None)
        factor = 1.0 if scale is None or self.measures.device else 1.0 / float(scale)
        ratio: Any = None
        if self._clip is not None:
            norm, threshold = self._clip
            self._clip = None
            ratio = threshold / (norm + 1e-6)
            ratio = ratio.clamp(max=1.0) if isinstance(ratio, torch.Tensor) else min(1.0, ratio)
            if isinstance(ratio, float) and ratio > 0:
                factor /= ratio
        found = self.measures.gradients(optimizer, factor)
        first = optimizer is None or optimizer is self.optimizers[0]
        prefix = "" if first else f"optimizer/{self.optimizers.index(optimizer)}/"
        part = self.closer.local_norm(optimizer, factor) if self.closer.shards.possible and ratio is None else None
        if part is not None:
            self._scalars[f"{prefix}grad_norm_part"] = part
        else:
            self._scalars[f"{prefix}grad_norm"] = found if ratio is None else norm
        if ratio is not None:
            self._scalars[f"{prefix}clip_ratio"] = ratio
        return factor

    def step_end(self, optimizer: Any) -> None:
        if self._updates:
            self.measures.end(optimizer)

    def stepped(self, optimizer: Any) -> None:
        """Rates of an optimizer that has just stepped; its gradients are used up."""
        self._zeroed = False
        first = optimizer is self.optimizers[0]
        rates = [g["lr"] for g in optimizer.param_groups if "lr" in g]
        prefix = "" if first else f"optimizer/{self.optimizers.index(optimizer)}/"
        for i, rate in enumerate(rates):
            if not i or (rate is not rates[0] and rate != rates[0]):
                name = f"lr/{optimizer.param_groups[i].get('name', i)}" if i else "lr"
                self._scalars[prefix + name] = rate if isinstance(rate, torch.Tensor) else float(rate)

    def finish(self, optimizer: Any, sampled: bool) -> float:
        """The step is over; returns the seconds that sampling it took."""
        if optimizer is None:
            self.step_begin(None, sampled)
        self._noise_scale()
        measures = self.measures
        if sampled:
            measures.activations()
        cost = measures.seconds + measures.probe.seconds
        measures.seconds = measures.probe.seconds = 0.0
        return cost

    def sample(self, sampling: bool, phases: bool) -> None:
        """Whether the coming step is measured by module, and timed by its phases."""
        self._hear_ends(phases)
        if sampling:
            self.measures.probe.arm()
        elif self.sampling:
            self.measures.probe.unhook()
        self.curious = sampling or self._looks < CLOSE_LOOKS or self.data.due
        if sampling or self.sampling:
            self.closer.sample(sampling)
        else:
            self.closer.between()
        self.sampling = sampling

    def panels(self, kind: str, about: Any, values: Any) -> Any:
        """The signals in one reading."""
        own = kind in ("attention", "quantized")
        return closer_panels(kind, about, values) if own else self.measures.panels(kind, about, values)

    def take_scalars(self) -> dict[str, Any]:
        out, self._scalars = self._scalars, {}
        return out

    def facts(self) -> dict[str, Fact]:
        """Everything that is known of models, optimizers and data so far."""
        closer = self.closer.facts()
        measured = {**self.measures.facts(), **self.measures.movement.facts(self.optimizers)}
        return {**self._facts, **measured, **self.data.facts(), **closer}

    def release(self) -> None:
        """Take all hooks away."""
        self.measures.probe.unhook()
        self.closer.release()
        for handle in (*self._handles, *self._after_handles):
            handle.remove()
        self._handles, self._after_handles, self._heard = [], [], []


def _precision(parameter_dtype: Any) -> str:
    """Mixed precision where autocast is on, else that of the parameters."""
    for device in ("cuda", "cpu"):
        if torch.is_autocast_enabled(device):
            return str(torch.get_autocast_dtype(device)).removeprefix("torch.") + "-mixed"
    return str(parameter_dtype)
