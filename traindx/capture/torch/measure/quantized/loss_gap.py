"""What quantization costs: the loss of a training batch with the weights as they are used, and as they are kept.

Asked on sampled steps, while it takes little of the training's time: the model is called twice more with the batch that
it was just trained on, once with every quantized weight exchanged for its parameter and with `torch.ao`'s fake-quantize
modules off. Modes, buffers, gradients and random state are put back, and both calls draw the same random numbers. Told
only where the first call gives the loss that was really trained on: then how the loss is made was understood.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import nn
from torch.nn import functional

from traindx.capture.torch.measure.models.tree import compiled
from traindx.capture.torch.measure.reruns.future_tokens import Aside
from traindx.capture.torch.measure.reruns.recorded_call import Call, call_of
from traindx.capture.torch.measure.reruns.restored_state import untouched
from traindx.capture.torch.measure.tensors.views import any_tensor, first_tensor

START_SECONDS, SHARE = 0.2, 0.01  # of the time since the first call, for calling models again
APART, GROWTH = 8, 1.25  # steps from one look to the next: at least; of all steps so far
ALIKE = 0.2  # of the trained loss: that the same batch gives again, with other units dropped


class LossGap:
    """`exchanged`: wraps the functions that use weights so that they get the parameters themselves; says while it is
    entered how many did (see `Quantized.unquantized`)."""

    def __init__(self, exchanged: Callable[[], Any]) -> None:
        self._exchanged = exchanged
        self._call: Call | None = None
        self._targets: torch.Tensor | None = None
        self._loss: torch.Tensor | None = None
        self._since, self._spent = time.perf_counter(), 0.0
        self._taken = 0.0
        self._next = APART
        self.refused = ""

    def _due(self, step: int) -> bool:
        if self.refused or step < self._next:
            return False
        return self._spent <= START_SECONDS + SHARE * (time.perf_counter() - self._since)

    def called(self, model: nn.Module, args: Any, kwargs: Any, step: int) -> None:
        """A sampled training call of a whole model, after so many steps."""
        if self._due(step) and not compiled(model):
            self._call = call_of(model, args, kwargs)

    def want(self, targets: Any) -> None:
        """What the loss of that step is compared with."""
        found = any_tensor(targets)
        self._targets = None if found is None else found.detach()

    def lost(self, loss: torch.Tensor, factor: float) -> None:
        """The loss of that step."""
        self._loss = loss.detach() * factor

    def forget(self) -> None:
        """The step was not made, or is over."""
        self._call = self._targets = self._loss = None

    def take_seconds(self) -> float:
        """What measuring took since the last call."""
        spent, self._taken = self._taken, 0.0
        return spent

    def measure(self, step: int) -> dict[str, float]:
        """`quant/loss_gap` of the step that is about to be made: how much less the loss would be without quantization;
        nothing where that cannot be told."""
        targets, trained = self._targets, self._loss
        call = None if self._call is None else self._call.whole()
        self.forget()
        if call is None or trained is None:
            return {}
        self._next = max(step + APART, int(GROWTH * step))
        began = time.perf_counter()
        try:
            with untouched(call[0]), warnings.catch_warnings(), torch.no_grad(), Aside():
                warnings.simplefilter("ignore")
                return self._compared(call, targets, float(trained))
        except Exception as error:  # noqa: BLE001 - the user's model is called more often than it was made for
            self.refused = f"the model could not be called: {type(error).__name__}"
            return {}
        finally:
            self._taken = time.perf_counter() - began
            self._spent += self._taken

    def _compared(
        self, call: tuple[nn.Module, Any, dict[str, Any]], targets: torch.Tensor | None, trained: float
    ) -> dict[str, float]:
        quantized = loss_again(*call, targets)
        if quantized is None or not abs(quantized - trained) <= ALIKE * abs(trained):
            self.refused = "the loss is not one that can be made again from outputs and targets"
            return {}
        with self._exchanged() as exchanged, without_fake_quantization(call[0]) as off:
            unquantized = loss_again(*call, targets)
        if unquantized is None or not (exchanged or off) or unquantized - unquantized != 0:
            return {}
        return {"quant/loss_gap": quantized - unquantized}


def loss_again(
    model: nn.Module, args: Any, kwargs: dict[str, Any], targets: torch.Tensor | None
) -> float | None:
    """The loss of a call: the model's own, cross-entropy for targets that are whole numbers, the mean square for
    others; None where it is neither."""
    with torch.random.fork_rng(devices=[]):
        output = model(*args, **kwargs)
    own = getattr(output, "loss", None)
    if isinstance(own, torch.Tensor) and own.numel() == 1:
        return float(own)
    found = first_tensor(output)
    if found is None or targets is None or not found.is_floating_point() or targets.device != found.device:
        return None
    if targets.is_floating_point():
        return float(functional.mse_loss(found, targets)) if found.shape == targets.shape else None
    rows = found.reshape(-1, found.shape[-1])
    if found.dim() > 2 and targets.shape == (len(found), *found.shape[2:]):
        return float(functional.cross_entropy(found, targets))
    return (
        float(functional.cross_entropy(rows, targets.reshape(-1))) if len(rows) == targets.numel() else None
    )


@contextmanager
def without_fake_quantization(model: nn.Module) -> Iterator[bool]:
    """`torch.ao`'s modules let everything pass; whether there are any that did not before."""
    flags = (getattr(m, "fake_quant_enabled", None) for m in model.modules())
    found = [flag for flag in flags if isinstance(flag, torch.Tensor)]
    before = [flag.clone() for flag in found]
    try:
        for flag in found:
            flag.zero_()
        yield any(bool(was.any()) for was in before)
    finally:
        for flag, was in zip(found, before, strict=True):
            flag.copy_(was)
