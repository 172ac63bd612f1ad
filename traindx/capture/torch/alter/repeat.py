"""One batch, again and again."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import torch

from traindx.capture.torch.alter.calls import Pass
from traindx.capture.torch.alter.inputs import Place, named_tensors, replace
from traindx.capture.torch.alter.loaders import rebuilt
from traindx.capture.torch.alter.losses import LossCall
from traindx.capture.torch.alter.script import Draw, Script
from traindx.capture.torch.experiment.site import Site


def copied(batch: Any) -> Any:
    return rebuilt(batch, lambda _, tensor: tensor.clone())


class RepeatBatch:
    """From the training loader; where there is none, the tensors of the first training pass of each model
    and the targets of the losses that followed it."""

    def __init__(self, site: Site, script: Script) -> None:
        self.site, self.script = site, script
        self.batches: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()
        self.inputs: weakref.WeakKeyDictionary[torch.nn.Module, dict[Place, torch.Tensor]]
        self.inputs = weakref.WeakKeyDictionary()
        self.targets: dict[tuple[str, int], torch.Tensor] = {}
        self.losses = 0  # since the last pass
        self.told = False  # a model was called with more than one tensor: its targets may be among them
        script.on_batches(site, self.stream)
        script.before_pass(site, self.same_inputs)
        script.on_loss(site, 1, self.same_target)
        script.needs_targets(site, lambda: bool(script.loaders.seen) or self.told)

    def stream(self, loader: Any) -> Callable[[Draw], Any]:
        def next_batch(draw: Draw) -> Any:
            drawn = draw()  # sampler and data set draw the random numbers they would have drawn
            if loader not in self.batches:
                self.batches[loader] = copied(drawn)
                return drawn
            self.site.touched("batches")
            return copied(self.batches[loader])

        return next_batch

    def same_inputs(self, this: Pass) -> None:
        if not this.training or self.script.loaders.seen:
            return
        self.losses = 0
        own = {place: t for place, t in named_tensors(this).items() if not t.requires_grad and t.dim()}
        self.told |= len(own) > 1
        kept = self.inputs.get(this.module)
        if kept is None:
            self.inputs[this.module] = {place: t.detach().clone() for place, t in own.items()}
            return
        replace(this, {place: fitted(kept[place], t) for place, t in own.items() if place in kept})
        self.site.touched("batches")

    def same_target(self, call: LossCall) -> None:
        if not call.training or self.script.loaders.seen or not self.inputs or call.target.requires_grad:
            return
        self.losses += 1
        kept = self.targets.setdefault((call.name, self.losses), call.target.detach().clone())
        if call.target.dim():
            call.target = fitted(kept, call.target)


def fitted(kept: torch.Tensor, given: torch.Tensor) -> torch.Tensor:
    """The kept samples, as many as were given: fewer, or the first ones again."""
    if len(kept) == len(given):
        return kept.clone()
    return kept[torch.arange(len(given), device=kept.device) % len(kept)]
