"""What models are called with: standardized, blank, shuffled; and samples with values
that are not finite, or far from all others."""

import inspect
import weakref
from collections.abc import Callable
from typing import Any

import torch

from traindx.capture.torch.alter.calls import LossCall, Pass
from traindx.capture.torch.alter.loaders import rebuilt, tensors_of
from traindx.capture.torch.alter.random_state import generator
from traindx.capture.torch.alter.script import Draw, Script
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


FAR = 20.0  # robust deviations from the median
TAIL = 0.05  # share of values at each end that the deviation does not depend on
NORMAL = 3.2897  # distance of those quantiles in a normal distribution of deviation 1
FEWEST, MOST = 20, 1 << 16  # rows from which on distances are judged; values that are kept to judge by, or
LEAST = 64  # rows
POSITIONS = 64  # of an image or sequence that are kept


class Spread:
    """Median and deviation of each feature, from the first rows seen: (q95 - q5) / 3.29, the standard
    deviation if they are normal. A feature with the same value in 9 of 10 rows is not judged."""

    def __init__(self) -> None:
        self.kept = torch.zeros(0)
        self.median = self.deviation = torch.zeros(0)

    def far(self, values: torch.Tensor) -> torch.Tensor:
        """Which samples of `values[n, ...]` hold something that is not finite or far."""
        flat = values.detach().reshape(len(values), -1)
        bad: torch.Tensor = ~torch.isfinite(flat).all(1)
        columns = by_feature(values.detach())
        self.learn(columns[~bad])
        if len(self.kept) >= FEWEST:
            distance = (columns - self.median[:, None]).abs() / self.deviation[:, None]
            bad = bad | (distance > FAR).flatten(1).any(1)
        return bad

    def learn(self, columns: torch.Tensor) -> None:
        step = -(-columns.shape[2] // POSITIONS)
        rows = columns[:, :, ::step].movedim(1, -1).reshape(-1, columns.shape[1])
        room = max(LEAST, MOST // max(rows.shape[1], 1)) - len(self.kept)
        if not len(rows) or room <= 0:
            return
        self.kept = torch.cat([self.kept, rows[:room]]) if len(self.kept) else rows[:room]
        levels = torch.tensor([TAIL, 0.5, 1 - TAIL], dtype=self.kept.dtype, device=self.kept.device)
        low, self.median, high = self.kept.sort(0).values[(levels * (len(self.kept) - 1)).round().long()]
        deviation = (high - low) / NORMAL
        self.deviation = torch.where(deviation > 0, deviation, torch.full_like(deviation, torch.inf))


def by_feature(values: torch.Tensor) -> torch.Tensor:
    """`[n, features, positions]`: channels of images, the last dimension of sequences."""
    if values.dim() < 2:
        return values.reshape(-1, 1, 1)
    if values.dim() == 2:
        return values[:, :, None]
    return values.movedim(-1, 1) if values.dim() == 3 else values.flatten(2)


class Drop:
    """From the batches of the training loader. Where there is none, a batch must keep its size: what
    would be dropped is replaced by other samples of it, in the model's inputs and in the loss."""

    def __init__(self, site: Site, script: Script) -> None:
        self.site, self.script = site, script
        self.spreads: dict[Place, Spread] = {}
        self.order: torch.Tensor | None = None  # samples of the last pass that replace those of the call
        self.inside = False
        script.on_batches(site, self.stream)
        script.before_pass(site, self.change)
        script.after_pass(site, self.left)
        script.on_loss(site, 2, self.drop_from_loss)
        script.needs_targets(site, lambda: bool(script.loaders.seen) or self.order is None)

    def bad(self, tensors: dict[Place, torch.Tensor], samples: int) -> torch.Tensor:
        found = torch.zeros(samples, dtype=torch.bool)
        for place, tensor in tensors.items():
            if tensor.dim() and len(tensor) == samples and tensor.is_floating_point():
                found |= self.spreads.setdefault(place, Spread()).far(tensor).cpu()
        return found

    def stream(self, loader: Any) -> Callable[[Draw], Any]:
        def next_batch(draw: Draw) -> Any:
            while True:
                batch = draw()
                tensors = dict(tensors_of(batch))
                samples = next((len(t) for t in tensors.values() if t.dim()), 0)
                bad = self.bad(tensors, samples)
                if not bad.any():
                    return batch
                self.site.touched("samples", int(bad.sum()))
                if int((~bad).sum()) > (samples > 2):  # a single one has no spread to normalize by
                    return drop_samples(batch, bad)
                self.site.touched("batches")  # next to nothing is left of it: the next one

        return next_batch

    def change(self, this: Pass) -> None:
        self.order, self.inside = None, True
        found = inputs_of(this)
        if not this.training or self.script.loaders.seen or not found:
            return
        samples = len(next(iter(found.values())))
        order = self.replacements_for(
            self.bad({(id(this.module), *p): t for p, t in found.items()}, samples)
        )
        if order is not None:
            replace(
                this,
                {
                    p: t[order.to(t.device)]
                    for p, t in named_tensors(this).items()
                    if has_samples(t, samples)
                },
            )
            self.order = order

    def left(self, this: Pass, found: Any) -> Any:
        self.inside = False
        return found

    def replacements_for(self, bad: torch.Tensor) -> torch.Tensor | None:
        """For each sample which one is used: itself, or for a bad one the next good one in turn."""
        good = torch.nonzero(~bad)[:, 0]
        if not bad.any() or not len(good):
            return None
        self.site.touched("samples", int(bad.sum()))
        order = torch.arange(len(bad))
        order[bad] = good[torch.arange(int(bad.sum())) % len(good)]
        return order

    def drop_from_loss(self, call: LossCall) -> None:
        if not call.training or self.script.loaders.seen or call.target.dim() == 0:
            return
        if self.order is not None and not self.inside:
            if len(call.target) != len(self.order):
                self.site.refuse("the targets of the loss do not have one row for each sample")
            call.target = call.target[self.order.to(call.target.device)]
        order = self.replacements_for(self.bad({("target",): call.target}, len(call.target)))
        if order is not None and len(call.input) == len(order):
            order = order.to(call.target.device)
            call.input, call.target = call.input[order], call.target[order]


def drop_samples(batch: Any, bad: torch.Tensor) -> Any:
    """A batch of the samples that are not bad."""
    keep = ~bad
    return rebuilt(
        batch, lambda _, tensor: tensor[keep.to(tensor.device)] if has_samples(tensor, len(bad)) else tensor
    )


def has_samples(tensor: torch.Tensor, samples: int) -> bool:
    return bool(tensor.dim()) and len(tensor) == samples
