"""Losses get the scores that probabilities were made of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.nn import functional

from traindx.capture.torch.alter.losses import LossCall
from traindx.capture.torch.alter.script import Script
from traindx.capture.torch.experiment.site import Site

MARK = "_traindx_scores"  # attribute of a tensor of probabilities
LOOKED_AT = 5  # losses whose inputs are looked at where their origin was not seen
SUM = 1e-3  # by which the probabilities of a row may miss 1


class Logits:
    """Remembers of the results of softmax and sigmoid what they were made of."""

    def __init__(self, site: Site, script: Script) -> None:
        self.site = site
        self.looked = self.found = 0
        for owner in (functional, torch, torch.Tensor):
            site.wrap(owner, "softmax", self.remember("softmax"))
        for owner in (torch, torch.Tensor):
            site.wrap(owner, "sigmoid", self.remember("sigmoid"))
        script.on_loss(site, 5, self.undo)

    def remember(self, kind: str) -> Callable[..., Any]:
        def hook(original: Callable[..., Any], *args: Any, **named: Any) -> Any:
            found = original(*args, **named)
            scores = args[0] if args else named.get("input", named.get("self"))
            if isinstance(scores, torch.Tensor) and isinstance(found, torch.Tensor):
                setattr(found, MARK, (kind, scores, scores._version, found._version))
            return found

        return hook

    def scores(self, given: torch.Tensor) -> tuple[str, torch.Tensor | None]:
        """Kind and scores that were made into these probabilities; also of a view of all of them."""
        for source in (given, given._base):
            mark = getattr(source, MARK, None)
            if mark is None or source is None:
                continue
            kind, scores, *versions = mark
            if versions != [scores._version, source._version] or scores.dtype != given.dtype:
                continue  # overwritten since then
            if source is given:
                return kind, scores
            if source.numel() == given.numel() and given.is_contiguous() and source.is_contiguous():
                return kind, scores.reshape(given.shape)
        return "", None

    def undo(self, call: LossCall) -> None:
        kind, scores = self.scores(call.input)
        if kind == "softmax" and scores is not None and call.name.startswith("binary") and width(scores) > 1:
            return  # several classes in a loss of two: another fault
        if call.name in ("cross_entropy", "nll_loss"):
            if scores is None and self.looks_like_probabilities(call.input):
                tiny = torch.finfo(call.input.dtype).tiny
                scores = call.input.clamp_min(tiny).log()
            if scores is not None and not (call.name == "nll_loss" and kind == "sigmoid"):
                axis = 1 if scores.dim() > 1 else 0
                call.input = scores if call.name == "cross_entropy" else functional.log_softmax(scores, axis)
                self.site.touched("losses")
        elif call.name.startswith("binary_cross_entropy") and scores is not None:
            call.name, call.input = "binary_cross_entropy_with_logits", scores
            self.site.touched("losses")

    def looks_like_probabilities(self, given: torch.Tensor) -> bool:
        """Where nothing is known of their origin: all in 0..1, and the classes sum to 1."""
        if given.dim() < 2 or given.shape[1] < 2 or not given.is_floating_point() or given.numel() == 0:
            return False
        if self.looked >= LOOKED_AT and not self.found:
            return False
        self.looked += 1
        with torch.no_grad():
            low, high = given.min(), given.max()
            found = bool((low >= 0) & (high <= 1) & ((given.sum(1) - 1).abs().max() < SUM))
        self.found += found
        return found


def width(scores: torch.Tensor) -> int:
    return scores.shape[1] if scores.dim() > 1 else 1
