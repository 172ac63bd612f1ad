"""What models are called with: standardized, blank, shuffled."""

from __future__ import annotations

import inspect
import weakref
from typing import Any

import torch

from traindx.capture.torch.alter.calls import Pass
from traindx.capture.torch.alter.chance import generator
from traindx.capture.torch.alter.loaders import rebuilt, tensors_of
from traindx.capture.torch.alter.script import Script
from traindx.capture.torch.experiment.site import Site

Place = tuple[Any, ...]
NO_INPUT = (
    "label",
    "target",
    "mask",
    "length",
    "position",
    "token_type",
    "hidden",
    "state",
)  # words in a name


def named_tensors(this: Pass) -> dict[Place, torch.Tensor]:
    """All tensors that a model is called with, by argument (and keys within it)."""
    return dict(tensors_of(arguments(this)))


def arguments(this: Pass) -> dict[str, Any]:
    """Those given by position under the names that the model's `forward` has for them."""
    try:
        names = list(inspect.signature(this.plain.forward).parameters)
    except (TypeError, ValueError):
        names = []
    names = [name if i < len(names) else f"#{i}" for i, name in enumerate(names[: len(this.args)])]
    names += [f"#{i}" for i in range(len(names), len(this.args))]
    return {**dict(zip(names, this.args, strict=True)), **this.named}


def replace(this: Pass, new: dict[Place, torch.Tensor]) -> None:
    """Put tensors in the place of others."""
    count = len(this.args)
    changed = rebuilt(arguments(this), lambda place, tensor: new.get(place, tensor))
    values = list(changed.values())
    this.args, this.named = tuple(values[:count]), dict(zip(this.named, values[count:], strict=True))


def is_input(place: Place) -> bool:
    words = [str(part).lower() for part in place]
    return not any(word in part for part in words for word in NO_INPUT) and words[-1] != "y"


def inputs_of(this: Pass) -> dict[Place, torch.Tensor]:
    """The tensors that are data: the first, and others of numbers with as many samples, without labels and
    masks. None where the first was computed by another model."""
    found: dict[Place, torch.Tensor] = {}
    for place, tensor in named_tensors(this).items():
        if not is_input(place) or tensor.dim() == 0:
            continue
        if not found and tensor.requires_grad:
            return {}
        samples = len(next(iter(found.values()), tensor))
        if not found or (tensor.is_floating_point() and len(tensor) == samples and not tensor.requires_grad):
            found[place] = tensor
    return found


class Inputs:
    """Changes the inputs of each model that gets data. Which do is seen in training: in evaluation, what
    one model hands to the next does not look like computed."""

    def __init__(self, site: Site, script: Script, kind: str) -> None:
        self.site, self.script, self.kind = site, script, kind
        self.fed: weakref.WeakKeyDictionary[torch.nn.Module, bool] = weakref.WeakKeyDictionary()
        self.moments: dict[Place, Moments] = {}
        self.random = generator("inputs")
        script.before_pass(site, self.change)

    def change(self, this: Pass) -> None:
        found = inputs_of(this)
        if this.training:
            self.fed.setdefault(this.module, bool(found))
        if not found or not self.fed.get(this.module, len(self.script.passes.counts) == 1):
            return
        new = getattr(self, self.kind)(this, found)
        if new:
            replace(this, new)
            self.site.touched("passes")

    def blank(self, this: Pass, found: dict[Place, torch.Tensor]) -> dict[Place, torch.Tensor]:
        return {place: torch.zeros_like(tensor) for place, tensor in found.items()}

    def shuffle(self, this: Pass, found: dict[Place, torch.Tensor]) -> dict[Place, torch.Tensor]:
        first = next(iter(found.values()))
        if not this.training or len(first) < 2:
            return {}
        order = torch.randperm(len(first), generator=self.random)
        return {place: tensor[order.to(tensor.device)] for place, tensor in found.items()}

    def standardize(self, this: Pass, found: dict[Place, torch.Tensor]) -> dict[Place, torch.Tensor]:
        new = {}
        for place, tensor in found.items():
            if not tensor.is_floating_point():
                self.site.refuse("the inputs are whole numbers")
            axis = feature_axis(this.plain, tensor)
            rows = (
                tensor.movedim(axis, -1).reshape(-1, tensor.shape[axis])
                if tensor.dim() > 1
                else tensor[:, None]
            )
            kept = self.moments.setdefault((id(this.module), *place), Moments())
            if this.training:
                kept.add(rows)
            use = kept
            if not kept.rows:  # an evaluation before any training
                use = Moments()
                use.add(rows)
            shape = [-1 if tensor.dim() > 1 and i == axis else 1 for i in range(tensor.dim())]
            if use.rows:
                scaled = (tensor.double() - use.mean.reshape(shape)) / use.std.reshape(shape)
                new[place] = scaled.to(tensor.dtype)
        return new


def feature_axis(model: torch.nn.Module, tensor: torch.Tensor) -> int:
    """Channels of images and of what a one-dimensional convolution takes; else the last dimension."""
    if tensor.dim() > 3:
        return 1
    if tensor.dim() == 3:
        first = next((m for m in model.modules() if isinstance(m, torch.nn.Conv1d | torch.nn.Linear)), None)
        if isinstance(first, torch.nn.Conv1d) and first.in_channels == tensor.shape[1]:
            return 1
    return max(int(tensor.dim()) - 1, 0)


class Moments:
    """Mean and variance of each column of all rows given so far, in double precision (Chan et al. 1983)."""

    def __init__(self) -> None:
        self.rows = 0
        self.mean = self.squares = torch.zeros(0, dtype=torch.float64)

    def add(self, values: torch.Tensor) -> None:
        """`values[n, columns]`; rows with values that are not finite do not count."""
        values = values.detach().double()
        values = values[torch.isfinite(values).all(1)]
        if not len(values):
            return
        mean = values.mean(0)
        squares = (values - mean).square().sum(0)
        if not self.rows or mean.shape != self.mean.shape:
            self.rows, self.mean, self.squares = len(values), mean, squares
            return
        both = self.rows + len(values)
        apart = mean - self.mean
        self.squares = self.squares + squares + apart.square() * (self.rows * len(values) / both)
        self.mean = self.mean + apart * (len(values) / both)
        self.rows = both

    @property
    def std(self) -> torch.Tensor:
        """1 for columns that do not vary."""
        std = (self.squares / max(self.rows, 1)).sqrt()
        return torch.where(std > 1e-7 * self.mean.abs().clamp_min(1e-30), std, torch.ones_like(std))
