"""Samples with values that are not finite, or far from all others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from traindx.capture.torch.alter.calls import Pass
from traindx.capture.torch.alter.inputs import Place, inputs_of, named_tensors, replace
from traindx.capture.torch.alter.loaders import rebuilt, tensors_of
from traindx.capture.torch.alter.losses import LossCall
from traindx.capture.torch.alter.script import Draw, Script
from traindx.capture.torch.experiment.site import Site

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
        self.order: torch.Tensor | None = (
            None  # samples of the last pass that stand for those that were called with
        )
        self.inside = False
        script.on_batches(site, self.stream)
        script.before_pass(site, self.change)
        script.after_pass(site, self.left)
        script.on_loss(site, 2, self.in_loss)
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
                    return without(batch, bad)
                self.site.touched("batches")  # next to nothing is left of it: the next one

        return next_batch

    def change(self, this: Pass) -> None:
        self.order, self.inside = None, True
        found = inputs_of(this)
        if not this.training or self.script.loaders.seen or not found:
            return
        samples = len(next(iter(found.values())))
        order = self.instead_of(self.bad({(id(this.module), *p): t for p, t in found.items()}, samples))
        if order is not None:
            replace(
                this, {p: t[order.to(t.device)] for p, t in named_tensors(this).items() if same(t, samples)}
            )
            self.order = order

    def left(self, this: Pass, found: Any) -> Any:
        self.inside = False
        return found

    def instead_of(self, bad: torch.Tensor) -> torch.Tensor | None:
        """For each sample which one is used: itself, or for a bad one the next good one in turn."""
        good = torch.nonzero(~bad)[:, 0]
        if not bad.any() or not len(good):
            return None
        self.site.touched("samples", int(bad.sum()))
        order = torch.arange(len(bad))
        order[bad] = good[torch.arange(int(bad.sum())) % len(good)]
        return order

    def in_loss(self, call: LossCall) -> None:
        if not call.training or self.script.loaders.seen or call.target.dim() == 0:
            return
        if self.order is not None and not self.inside:
            if len(call.target) != len(self.order):
                self.site.refuse("the targets of the loss do not have one row for each sample")
            call.target = call.target[self.order.to(call.target.device)]
        order = self.instead_of(self.bad({("target",): call.target}, len(call.target)))
        if order is not None and len(call.input) == len(order):
            order = order.to(call.target.device)
            call.input, call.target = call.input[order], call.target[order]


def without(batch: Any, bad: torch.Tensor) -> Any:
    """A batch of the samples that are not bad."""
    keep = ~bad
    return rebuilt(
        batch, lambda _, tensor: tensor[keep.to(tensor.device)] if same(tensor, len(bad)) else tensor
    )


def same(tensor: torch.Tensor, samples: int) -> bool:
    return bool(tensor.dim()) and len(tensor) == samples
