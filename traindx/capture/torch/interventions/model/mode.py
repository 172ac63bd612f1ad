"""Training mode for training, and evaluation mode for evaluation."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch

from traindx.capture.experiment.applies import applies
from traindx.capture.torch.experiment.site import Site


@applies("mode")
def mode(site: Site, _value: str) -> None:
    site.unused = "all models were in training mode when they were called with gradients on"
    site.around_calls(switching(site, gradients=True))


@applies("eval_mode")
def eval_mode(site: Site, _value: str) -> None:
    site.unused = "all models were in evaluation mode when they were called with gradients off"
    site.around_calls(switching(site, gradients=False))


def switching(site: Site, gradients: bool) -> Callable[..., Any]:
    """A hook around calls of models: those with gradients on (off) are made in training (evaluation) mode."""
    losses = torch.nn.modules.loss._Loss  # have no mode

    def hook(call: Callable[..., Any], module: Any, *args: Any, **named: Any) -> Any:
        if torch.is_grad_enabled() is not gradients or isinstance(module, losses):
            return call(module, *args, **named)
        with switched(module, gradients) as number:
            if number:
                site.touched("calls")
            return call(module, *args, **named)

    return hook


@contextmanager
def switched(module: Any, training: bool) -> Iterator[int]:
    """Put all modules of one into a mode, and back again. Yields the number of those that were in the other."""
    others = [part for part in module.modules() if part.training is not training]
    for part in others:
        part.training = training
    try:
        yield len(others)
    finally:
        for part in others:
            part.training = not training
