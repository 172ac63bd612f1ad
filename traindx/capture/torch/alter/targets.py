"""A regression in units in which its targets have mean 0 and spread 1."""

from __future__ import annotations

import weakref
from typing import Any, NamedTuple

import torch

from traindx.capture.torch.alter.calls import Pass
from traindx.capture.torch.alter.losses import LossCall
from traindx.capture.torch.alter.moments import Moments
from traindx.capture.torch.alter.script import Script
from traindx.capture.torch.experiment.site import Site

REGRESSION = ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss")


class Output(NamedTuple):
    """What a model gave, as it was and as the script got it."""

    own: torch.Tensor
    given: torch.Tensor


class Standardize:
    """The model's output is taken back to the script's units, so that whatever the script does with it
    stays right; the loss is computed in standard units, with the value of the script's units."""

    def __init__(self, site: Site, script: Script) -> None:
        self.site, self.script = site, script
        self.moments = Moments()
        self.outputs: weakref.WeakKeyDictionary[torch.nn.Module, Output] = weakref.WeakKeyDictionary()
        self.model: weakref.ref[torch.nn.Module] | None = None  # the one that the loss is fed from
        script.after_pass(site, self.back)
        script.on_loss(site, 4, self.standard)

    def back(self, this: Pass, found: Any) -> Any:
        if not isinstance(found, torch.Tensor):
            return found
        given = found
        if self.model is not None and self.model() is this.module:
            mean, std = self.units(found)
            given = found * std + mean
        if this.training:
            self.outputs[this.module] = Output(found, given)
        return given

    def units(self, like: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return self.moments.mean.to(like), self.moments.std.to(like)

    def standard(self, call: LossCall) -> None:
        if call.name not in REGRESSION or not call.training:
            return
        output = self.source(call)
        columns = (
            call.target.dim() == 2 and call.target.shape[1] > 1 and call.target.shape == call.input.shape
        )
        self.moments.add(
            call.target.reshape(-1, call.target.shape[1]) if columns else call.target.reshape(-1, 1)
        )
        mean, std = self.units(call.input)
        own = output.own.reshape(call.input.shape)
        with torch.no_grad():
            true = call.unseen(self.script.losses.originals, own.detach() * std + mean, call.target)
        call.input, call.target = own, (call.target - mean) / std
        call.after.append(lambda value: value + (true - value).detach())
        self.site.touched("losses")

    def source(self, call: LossCall) -> Output:
        """The output of a model that the loss is fed with, maybe in another shape."""
        place = call.input.untyped_storage().data_ptr()
        for model, output in self.outputs.items():
            if (
                output.given.untyped_storage().data_ptr() == place
                and output.given.numel() == call.input.numel()
            ):
                if self.model is not None and self.model() is not model:
                    self.site.refuse("the losses are fed by several models")
                self.model = weakref.ref(model)
                return output
        self.site.refuse("what the loss is fed with is not the output of a model as it is")
