"""The cost of quantization: the loss of a training batch with quantized weights, and with the weights as
stored.

Measured on sampled steps, while it takes little of the training's time. The model is called twice more with
the batch that it was just trained on, the second time with every quantized weight replaced by its parameter
and with `torch.ao`'s fake-quantize modules off. Modes, buffers, gradients and random state are restored, and
both calls draw the same random numbers. A gap is reported only where the first call reproduces the loss that
was trained on: only then is it known how the loss is computed."""

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import torch
from torch import nn

from traindx.capture.torch.measure.models.tree import is_compiled
from traindx.capture.torch.measure.reruns.recorded_call import Call, NotRerun, RecordedCall, allow_repeats
from traindx.capture.torch.measure.tensors.views import first_tensor

START_SECONDS, SHARE = 0.2, 0.01  # of the time since the first call, for calling models again
APART, GROWTH = 8, 1.25  # steps from one measurement to the next: at least; relative to all steps so far
SIMILAR = 0.2  # relative difference from the trained loss at most: dropout drops other units


class LossGap:
    """`unquantized`: while it is entered, functions use the parameters themselves instead of quantized
    weights, and the list that it gives holds those that were used (see `Quantized.unquantized`)."""

    def __init__(self, unquantized: Callable[[], AbstractContextManager[list[Any]]]) -> None:
        self._unquantized = unquantized
        self.call = RecordedCall()
        self._loss: torch.Tensor | None = None
        self._since, self._spent = time.perf_counter(), 0.0
        self._untaken = 0.0
        self._next = APART
        self.refused = ""

    def record(self, model: nn.Module, args: Any, kwargs: Any, step: int) -> None:
        """A sampled training call of a whole model, after so many steps."""
        if self.refused or step < self._next or is_compiled(model):
            return
        if self._spent <= START_SECONDS + SHARE * (time.perf_counter() - self._since):
            self.call.record(model, args, kwargs)

    def record_loss(self, loss: torch.Tensor, factor: float) -> None:
        """The loss of that step."""
        self._loss = loss.detach() * factor

    def forget(self) -> None:
        """The step was not made, or is over."""
        self.call.forget()
        self._loss = None

    def take_seconds(self) -> float:
        """The time that measuring took since the last call."""
        spent, self._untaken = self._untaken, 0.0
        return spent

    def measure(self, step: int) -> dict[str, float]:
        """`quant/loss_gap` of the step that is about to be made: how much lower the loss would be without
        quantization; nothing where that is unknown."""
        trained, self._loss = self._loss, None
        try:
            call = self.call.take()
        except NotRerun:
            return {}
        if call is None or trained is None:
            return {}
        self._next = max(step + APART, int(GROWTH * step))
        began, busy = time.perf_counter(), time.thread_time()  # other processes' time is not counted
        try:
            with allow_repeats(call.model):
                return self._compare(call, float(trained))
        except NotRerun as why:
            self.refused = str(why)
            return {}
        finally:
            self._untaken = time.perf_counter() - began
            self._spent += time.thread_time() - busy

    def _compare(self, call: Call, trained: float) -> dict[str, float]:
        quantized = recompute_loss(call)
        if quantized is None or not abs(quantized - trained) <= SIMILAR * abs(trained):
            self.refused = "the loss cannot be recomputed from outputs and targets"
            return {}
        with self._unquantized() as exchanged, without_fake_quantization(call.model) as off:
            unquantized = recompute_loss(call)
        if unquantized is None or not (exchanged or off) or unquantized - unquantized != 0:
            return {}
        return {"quant/loss_gap": quantized - unquantized}


def recompute_loss(call: Call) -> float | None:
    """The loss of a call: the model's own, cross-entropy for integer targets, the mean squared error for
    others; None where it is none of these."""
    with torch.random.fork_rng(devices=[]):
        output = call.repeat()
    own = getattr(output, "loss", None)
    if isinstance(own, torch.Tensor) and own.numel() == 1:
        return float(own)
    found, targets = first_tensor(output), call.targets
    if found is None or targets is None or not found.is_floating_point() or targets.device != found.device:
        return None
    if targets.is_floating_point():
        return float(nn.functional.mse_loss(found, targets)) if found.shape == targets.shape else None
    if found.dim() > 2 and targets.shape == (len(found), *found.shape[2:]):
        return float(nn.functional.cross_entropy(found, targets))
    rows = found.reshape(-1, found.shape[-1])
    if len(rows) != targets.numel():
        return None
    return float(nn.functional.cross_entropy(rows, targets.reshape(-1)))


@contextmanager
def without_fake_quantization(model: nn.Module) -> Iterator[bool]:
    """`torch.ao`'s modules let everything pass; whether any of them did not before."""
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
