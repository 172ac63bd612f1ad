"""Training mode for training."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from traindx.capture.experiment.kinds import Apply, intervention
from traindx.capture.experiment.values import one_of
from traindx.capture.torch.experiment.site import Site


@intervention("mode", stage="forward", values=("train",))
def mode(value: str) -> Apply:
    """Models that are called with gradients on are in training mode for that call, with all their modules
    (also norms that were frozen on purpose). What the script itself sees of their mode stays. Validation that
    leaves gradients on counts as training. Modules that take part through functions only
    (`F.dropout(x, training=self.training)` outside of any call) are not reached."""
    one_of(value, "mode", ("train",))

    def apply(site: Site) -> None:
        import torch

        site.unused = "all models were in training mode when they were called with gradients on"
        site.around_calls(switching(site, lambda: torch.is_grad_enabled(), True))

    return apply


def switching(site: Site, when: Callable[[], bool], training: bool) -> Callable[..., Any]:
    """A hook around calls of models, in a mode of ours `when` that is wanted."""
    import torch

    losses = torch.nn.modules.loss._Loss  # have no mode

    def hook(call: Callable[..., Any], module: Any, *args: Any, **named: Any) -> Any:
        if not when() or isinstance(module, losses):
            return call(module, *args, **named)
        with switched(module, training) as number:
            if number:
                site.touched("calls")
            return call(module, *args, **named)

    return hook


@contextmanager
def switched(module: Any, training: bool) -> Iterator[int]:
    """All modules of one in a mode, and back again; the number of those that were not."""
    others = [part for part in module.modules() if part.training is not training]
    for part in others:
        part.training = training
    try:
        yield len(others)
    finally:
        for part in others:
            part.training = not training
