"""Losses of classes: smoothed labels, and weights that balance the classes."""

from __future__ import annotations

from typing import Any

import torch

from traindx.capture.torch.alter.labels import known_labels
from traindx.capture.torch.alter.losses import LossCall
from traindx.capture.torch.alter.script import Script
from traindx.capture.torch.experiment.site import Site

CLASSES = ("cross_entropy", "nll_loss")
BINARY = ("binary_cross_entropy", "binary_cross_entropy_with_logits")
MOST = 100_000  # classes that are counted


def smoothed(site: Site, call: LossCall, share: float) -> None:
    """Move a share of each label's weight to all classes alike, in training."""
    if not call.training:
        return
    if call.name == "cross_entropy":
        if call.options.get("label_smoothing", 0.0) != share:
            call.options["label_smoothing"] = share
            site.touched("losses")
    elif share and call.name in BINARY:
        call.target = call.target * (1 - share) + share / 2
        site.touched("losses")
    elif share and call.name == "nll_loss":
        if call.options.get("weight") is not None:
            site.refuse("the script's nll_loss has class weights of its own")
        uniform = spread_loss(call)
        call.after.append(lambda value: (1 - share) * value + share * uniform)
        site.touched("losses")


def spread_loss(call: LossCall) -> torch.Tensor:
    """What `nll_loss` would be if the labels were all classes alike."""
    axis = 1 if call.input.dim() > 1 else 0
    each = -call.input.mean(axis)
    kept = call.target != call.options.get("ignore_index", -100)
    each = torch.where(kept, each, torch.zeros_like(each))
    reduction = call.options.get("reduction", "mean")
    if reduction == "none":
        return each
    return each.sum() / kept.sum() if reduction == "mean" else each.sum()


class Balance:
    """Weights n / (classes * count), by the labels of the data set where they can be read, else by those
    seen so far in training."""

    def __init__(self, site: Site, script: Script) -> None:
        self.site, self.script = site, script
        self.counts: torch.Tensor | None = None
        self.whole = False  # the counts are those of the whole data set
        self.binary: torch.Tensor | None = None  # positive and negative labels so far, by column
        script.on_loader(site, self.read)
        script.on_loss(site, 6, self.weigh)

    def read(self, loader: Any) -> None:
        labels = known_labels(loader.dataset)
        if labels is None or labels.dim() != 1 or labels.is_floating_point() or not len(labels):
            return
        if int(labels.min()) >= 0 and int(labels.max()) < MOST:
            self.counts, self.whole = torch.bincount(labels).double(), True

    def weigh(self, call: LossCall) -> None:
        if not call.training:
            return
        if call.name in CLASSES and not call.target.is_floating_point():
            weights = self.of_classes(call)
            if weights is not None:
                call.options["weight"] = weights.to(call.input)
                self.site.touched("losses")
        elif call.name in BINARY:
            share = self.positives(call.target)
            if bool((share != 0.5).any()):
                share = share.to(call.input)
                call.options["weight"] = torch.where(call.target > 0.5, 0.5 / share, 0.5 / (1 - share))
                call.options.pop("pos_weight", None)
                self.site.touched("losses")

    def of_classes(self, call: LossCall) -> torch.Tensor | None:
        classes = call.input.shape[1 if call.input.dim() > 1 else 0]
        if classes > MOST:
            self.site.refuse(f"there are {classes} classes")
        target = call.target.reshape(-1)
        target = target[
            (target != call.options.get("ignore_index", -100)) & (target >= 0) & (target < classes)
        ].cpu()
        if not self.whole or self.counts is None or len(self.counts) > classes:
            seen = torch.bincount(target, minlength=classes).double()
            known = self.counts is not None and not self.whole and len(self.counts) == classes
            self.counts, self.whole = (
                (self.counts + seen if known and self.counts is not None else seen),
                False,
            )
        counts = torch.zeros(classes, dtype=torch.float64)
        counts[: len(self.counts)] = self.counts
        there = counts > 0
        if int(counts.max()) == int(counts[there].min()):
            return None
        weights = counts.sum() / (int(there.sum()) * counts)
        return torch.where(there, weights, torch.ones_like(weights))

    def positives(self, target: torch.Tensor) -> torch.Tensor:
        """Share of positive labels so far, of each column of a table of labels."""
        rows = (
            target.detach().reshape(len(target), -1) if target.dim() == 2 else target.detach().reshape(-1, 1)
        )
        found = torch.stack([(rows > 0.5).sum(0), (rows <= 0.5).sum(0)]).double().cpu()
        same = self.binary is not None and self.binary.shape == found.shape
        self.binary = self.binary + found if same and self.binary is not None else found
        share = self.binary[0] / self.binary.sum(0)
        return torch.where((share > 0) & (share < 1), share, torch.full_like(share, 0.5))
