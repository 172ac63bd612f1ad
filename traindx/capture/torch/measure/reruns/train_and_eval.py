"""How training mode and evaluation mode change a model's outputs for one training batch.

Asked once, when the recording is over, of a batch that was trained on. Dropout makes the two differ by what
it drops, batch normalization by how far its running statistics are from those of the batch, which is
measured separately. Where the loss is one of PyTorch's functions of outputs and targets, it is reported in
both modes as well. No step of the training is touched: modes, buffers and random state are restored, as the
script may go on."""

import weakref
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import nn

from traindx.capture.torch.measure.models.tree import is_compiled, modal
from traindx.capture.torch.measure.reruns.future_tokens import FutureTokens
from traindx.capture.torch.measure.reruns.recorded_call import (
    Call,
    NotRerun,
    RecordedCall,
    allow_repeats,
    preserve_model_state,
)
from traindx.capture.torch.measure.tensors.shards import several_processes
from traindx.capture.torch.measure.tensors.views import first_tensor, tensors_in
from traindx.vocabulary import Fact

MOST_VALUES = 1 << 22  # in a batch that is recorded
# The last operation of a loss -> the same loss of outputs and targets.
BY_CLASS = "NllLossBackward0"
LOSSES: Mapping[str, Callable[[torch.Tensor, torch.Tensor], torch.Tensor]] = {
    BY_CLASS: nn.functional.cross_entropy,  # right for log-probabilities, too: log-softmax leaves them as they are
    "MseLossBackward0": nn.functional.mse_loss,
    "HuberLossBackward0": nn.functional.huber_loss,
    "SmoothL1LossBackward0": nn.functional.smooth_l1_loss,
    "BinaryCrossEntropyWithLogitsBackward0": nn.functional.binary_cross_entropy_with_logits,
}
MEAN = 1  # `_saved_reduction` of a loss that is a mean


class TrainAndEval:
    """The last sampled training call of a model with modules that depend on the mode."""

    def __init__(self) -> None:
        self.call = RecordedCall()
        self._training: tuple[weakref.ref[nn.Module], ...] = ()
        self._first_loss: float | None = None
        self._loss_kind = ""

    def record(self, model: nn.Module, args: Any, kwargs: Any) -> None:
        """A sampled training call of such a model."""
        if not is_compiled(model) and sum(t.numel() for t in tensors_in((args, kwargs))) <= MOST_VALUES:
            self.call.record(model, args, kwargs)
            self.call.targets = None
            self._training = tuple(weakref.ref(m) for m in model.modules() if m.training and modal(m))

    def record_loss(self, loss: torch.Tensor, factor: float) -> None:
        """Keeps the first loss of the training, and how it was computed."""
        if self._first_loss is None:
            self._first_loss = float(loss.detach()) * factor
            last, unweighted = loss.grad_fn, getattr(loss.grad_fn, "_saved_weight", None) is None
            if unweighted and getattr(last, "_saved_reduction", None) == MEAN:
                self._loss_kind = type(last).__name__

    def facts(self) -> dict[str, Fact]:
        """`mode_effect`: how far the outputs change from one mode to the other, relative to their size (root
        mean squares). `statistics_effect`: the same where only layers that keep running statistics change
        their mode. `modes_loss_train`, `modes_loss_eval` and `modes_loss_first`. Or the reason why this
        could not be tried."""
        training = frozenset(m for known in self._training if (m := known()) is not None)
        try:
            call = self.call.take()
            found = {} if call is None else self._compare(call, training)
        except NotRerun as why:
            return {"mode_not_checked": str(why)}
        return {name: round(float(value), 6) for name, value in found.items() if value is not None}

    def _compare(self, call: Call, training: frozenset[nn.Module]) -> dict[str, float | None]:
        # A model that was trained in evaluation mode throughout is compared with all its modules in training mode.
        training = training or frozenset(m for m in call.model.modules() if modal(m))
        normalizing = frozenset(m for m in training if getattr(m, "track_running_stats", False))
        with allow_repeats(call.model):
            in_eval, in_training = outputs(call, frozenset()), outputs(call, training)
            by_batch = outputs(call, normalizing) if normalizing else None
            losses = [loss_of(self._loss_kind, out, call.targets) for out in (in_training, in_eval)]
        found = {
            "mode_effect": distance(in_training, in_eval),
            "statistics_effect": distance(by_batch, in_eval),
        }
        if self._first_loss is not None and None not in losses:
            names = ("modes_loss_train", "modes_loss_eval", "modes_loss_first")
            found |= zip(names, (*losses, self._first_loss), strict=True)
        return found


def loss_of(kind: str, found: torch.Tensor | None, targets: torch.Tensor | None) -> float | None:
    """The mean loss of outputs and targets; None where it depends on more than these two."""
    loss = LOSSES.get(kind)
    if loss is None or found is None or targets is None or targets.device != found.device:
        return None
    if targets.is_floating_point() and found.shape == targets.shape:
        return float(loss(found, targets))
    by_row = found.dim() > 1 and found.numel() == targets.numel() * found.shape[-1]
    if targets.is_floating_point() or kind != BY_CLASS or not by_row:
        return None
    return float(loss(found.reshape(-1, found.shape[-1]).float(), targets.reshape(-1)))


def outputs(call: Call, training: frozenset[nn.Module]) -> torch.Tensor | None:
    """The first output in evaluation mode but for some modules. Each call draws the same random numbers."""
    with preserve_model_state(call.model), torch.no_grad():
        call.model.eval()
        for module in training:
            module.train()
        output = call.repeat()
    logits = getattr(output, "logits", None)
    found = logits if isinstance(logits, torch.Tensor) else first_tensor(output)
    return None if found is None else found.detach()


def distance(one: torch.Tensor | None, other: torch.Tensor | None) -> float | None:
    """Root mean square of the difference over the larger of the two outputs'; None where they cannot be
    compared."""
    if one is None or other is None or one.shape != other.shape or not one.is_floating_point():
        return None
    size = max(float(t.double().square().mean()) for t in (one, other)) if one.numel() else 0.0
    change = float((one.double() - other.double()).square().mean()) if one.numel() else 0.0
    return (change / size) ** 0.5 if 0 < size < float("inf") and change - change == 0 else None


class Reruns:
    def __init__(self) -> None:
        self.modes, self._future = TrainAndEval(), FutureTokens()

    def record(self, model: nn.Module, args: Any, kwargs: Any, modal: bool) -> None:
        """A sampled training call of a whole model. `modal`: its output depends on its mode."""
        if several_processes():
            return  # each would have to repeat its call at the same time, and one that has ended does not
        self._future.record(model, args, kwargs)
        if modal:
            self.modes.record(model, args, kwargs)

    def record_targets(self, targets: Any) -> None:
        """The targets of the loss of that step."""
        self._future.record_targets(targets)
        self.modes.call.record_targets(targets)

    def wanted(self, model: nn.Module) -> bool:
        """Whether a call of this model waits to be repeated."""
        return self._future.call.is_of(model) or self.modes.call.is_of(model)

    def forget(self) -> None:
        """The step was not made."""
        self._future.call.forget()
        self.modes.call.forget()

    def facts(self) -> dict[str, Fact]:
        """Repeats the calls."""
        return self._future.facts() | self.modes.facts()
