"""Looks at a live model once, at the end of a short run of `traindx check`, before the script is ended.

The run is thrown away afterwards. Even so, modes, buffers, gradients and random state are put back: a
script may catch its end and go on. What could not be looked at is said in the fact `<probe>_not_checked`.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import torch

from traindx.capture.torch.checks import latency as probe_pace
from traindx.capture.torch.checks import memory as probe_memory
from traindx.capture.torch.checks import samples as probe_samples
from traindx.capture.torch.checks import structure as probe_structure
from traindx.capture.torch.measure.views import any_tensor
from traindx.vocabulary.setup import Fact

if TYPE_CHECKING:
    from traindx.capture.torch.discover.discovery import Discovery

SECONDS = 12.0  # for all probes together; those that come too late are left out


class LossCall(NamedTuple):
    """A call of a loss function: `original(given, *args, **named)` gave `value`."""

    original: Callable[..., Any]
    given: torch.Tensor
    args: tuple[Any, ...]
    named: dict[str, Any]
    value: torch.Tensor

    @property
    def target(self) -> Any:
        return self.args[0] if self.args else self.named.get("target")

    def again(self, given: torch.Tensor, target: Any) -> torch.Tensor:
        """The loss of something else."""
        if self.args:
            found: torch.Tensor = self.original(given, target, *self.args[1:], **self.named)
        else:
            found = self.original(given, **{**self.named, "target": target})
        return found


class Live:
    """The last training step as it passed by: the model, what it was called with, what it gave, what
    the loss was computed from, and how the loss that backward was called on grows with the batch."""

    def __init__(self, discovery: Discovery) -> None:
        self.discovery = discovery
        self.model: torch.nn.Module | None = None
        self.inputs: tuple[Any, ...] = ()
        self.named: dict[str, Any] = {}
        self.output: Any = None
        self.loss: LossCall | None = None
        self.first_loss: float | None = None
        self.lost: torch.Tensor | None = None  # what backward was called on
        self.growth: float | None = None
        self.leaves: list[torch.Tensor] = []
        self.handle: Any = None

    def model_called(self, module: torch.nn.Module, inputs: tuple[Any, ...], named: dict[str, Any]) -> None:
        """A root is about to be called in training."""
        if module is not self.model:
            if self.handle is not None:
                self.handle.remove()
            self.handle = module.register_forward_hook(self.answered)
        self.model, self.inputs, self.named = module, inputs, named

    def answered(self, _module: Any, _inputs: Any, output: Any) -> None:
        self.output = output

    def loss_called(self, original: Any, given: Any, args: tuple[Any, ...], named: dict[str, Any], value: Any) -> None:
        """A loss function was called."""
        if isinstance(given, torch.Tensor) and isinstance(value, torch.Tensor) and value.requires_grad:
            self.loss = LossCall(original, given, args, named, value)

    def backward_begins(self, loss: torch.Tensor) -> None:
        """The graph is whole now, and will be gone after the backward pass."""
        self.lost = loss.detach()
        if self.first_loss is None:
            self.first_loss = float(self.lost)
        first = any_tensor((self.inputs, self.named))
        rows = len(first) if first is not None and first.dim() else 0
        self.growth = probe_samples.growth_in_graph(loss, rows)
        if not self.leaves:
            from traindx.capture.torch.discover.manual import leaves

            self.leaves = leaves(loss)

    def samples(self) -> int:
        """Samples in the batch; 0 where that is not clear."""
        first = any_tensor((self.inputs, self.named))
        if first is None or not first.dim():
            return 0
        count = len(first)
        target = self.loss.target if self.loss is not None else None
        loader = self.discovery.loaders.loader
        told = getattr(loader, "batch_size", None) if loader is not None else None
        sure = count == told or (isinstance(target, torch.Tensor) and target.dim() and len(target) == count)
        return count if sure else 0

    def facts(self) -> dict[str, Fact]:
        """Ask every probe; never raises."""
        began = time.monotonic()
        if self.handle is not None:
            self.handle.remove()
        found: dict[str, Fact] = {}
        for name, probe in PROBES:
            if self.model is None and name != "accelerator":
                found[f"{name}_not_checked"] = "no model was seen in training"
            elif time.monotonic() - began > SECONDS:
                found[f"{name}_not_checked"] = "the time for looking at the model was used up"
            else:
                found |= attempted(name, probe, self)
        return found


Probe = Callable[[Any], dict[str, Fact]]

PROBES: tuple[tuple[str, Probe], ...] = (
    ("accelerator", probe_memory.accelerator),
    ("structure", probe_structure.structure),
    ("leak", probe_samples.leak),
    ("growth", probe_samples.growth),
    ("modes", probe_samples.modes),
    ("memory", probe_memory.memory),
    ("latency", probe_pace.latency),
)


def attempted(name: str, probe: Probe, live: Live) -> dict[str, Fact]:
    """What a probe finds, or why it found nothing."""
    try:
        with untouched(live.model), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return probe(live)
    except probe_samples.NotClear as why:
        return {f"{name}_not_checked": str(why)}
    except Exception as error:  # noqa: BLE001 - the user's model is called in ways it may not be made for
        return {f"{name}_not_checked": f"the model could not be called: {type(error).__name__}: {str(error)[:200]}"}


@contextmanager
def untouched(model: torch.nn.Module | None) -> Iterator[None]:
    """Modes, buffers, gradients and random state are what they were when this is left."""
    if model is None:
        yield
        return
    modes = [(m, m.training) for m in model.modules()]
    buffers = [(b, b.detach().clone()) for b in model.buffers()]
    gradients = [(p, p.grad) for p in model.parameters()]
    for parameter, _ in gradients:
        parameter.grad = None
    devices = list({p.device for p, _ in gradients if p.device.type == "cuda"})
    try:
        with torch.random.fork_rng(devices=devices), torch.enable_grad():
            yield
    finally:
        for module, training in modes:
            module.training = training
        with torch.no_grad():
            for buffer, before in buffers:
                buffer.copy_(before)
        for parameter, gradient in gradients:
            parameter.grad = gradient
