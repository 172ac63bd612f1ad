"""What the mode of a model does to its answers: one training batch, answered in training and in evaluation mode.

Asked once, when the recording is over, of a batch that was trained on. Dropout makes the two differ by what it drops;
batch normalization by how far its running statistics are from those of the batch, which is asked apart. Where the loss
is one of PyTorch's functions of the outputs and the targets, it is told in both modes as well. No step of the training
is touched; modes, buffers and random state are put back, for a script may go on.
"""

from __future__ import annotations

import warnings
import weakref
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import nn
from torch.nn import functional

from traindx.capture.torch.measure.models.tree import compiled, modal
from traindx.capture.torch.measure.reruns.future_tokens import LET_GO, Aside
from traindx.capture.torch.measure.reruns.recorded_call import Call, call_of
from traindx.capture.torch.measure.reruns.restored_state import untouched
from traindx.capture.torch.measure.tensors.shards import several_processes
from traindx.capture.torch.measure.tensors.views import any_tensor, first_tensor, tensors_in
from traindx.vocabulary.setup import Fact

MOST_VALUES = 1 << 22  # in a batch that is kept
# The last operation of a loss -> the same loss of outputs and targets.
BY_CLASS = "NllLossBackward0"
LOSSES: Mapping[str, Callable[[torch.Tensor, torch.Tensor], torch.Tensor]] = {
    BY_CLASS: functional.cross_entropy,  # of log-probabilities, too: their softmax is what they are
    "MseLossBackward0": functional.mse_loss,
    "HuberLossBackward0": functional.huber_loss,
    "SmoothL1LossBackward0": functional.smooth_l1_loss,
    "BinaryCrossEntropyWithLogitsBackward0": functional.binary_cross_entropy_with_logits,
}
MEAN = 1  # how the loss was reduced


class Modes:
    """The last sampled training call of a model with modules that answer differently in the two modes."""

    def __init__(self) -> None:
        self._call: Call | None = None
        self._training: tuple[weakref.ref[nn.Module], ...] = ()
        self._targets: torch.Tensor | None = None
        self._missed = False  # a model went unasked
        self._first: float | None = None
        self._kind = ""

    def called(self, model: nn.Module, args: Any, kwargs: Any) -> None:
        """A sampled training call of such a model. Of several processes each would have to call it again at the same
        time, and one that has ended does not."""
        if several_processes() or compiled(model):
            return
        if sum(t.numel() for t in tensors_in((args, kwargs))) <= MOST_VALUES:
            self._call, self._targets = call_of(model, args, kwargs, self._gone), None
            self._training = tuple(weakref.ref(m) for m in model.modules() if m.training and modal(m))

    def want(self, targets: Any) -> None:
        """What the outputs of that call are compared with."""
        found = any_tensor(targets)
        self._targets = None if found is None else found.detach()

    def lost(self, loss: torch.Tensor, factor: float) -> None:
        """A loss, of which the first is kept, and how it was made."""
        if self._first is None:
            self._first = float(loss.detach()) * factor
            made, plain = loss.grad_fn, getattr(loss.grad_fn, "_saved_weight", None) is None
            if plain and getattr(made, "_saved_reduction", None) == MEAN:
                self._kind = type(made).__name__

    def asks(self, model: nn.Module) -> bool:
        """Whether a call of this model waits to be made again."""
        return self._call is not None and self._call.model() is model

    def _gone(self, reference: Any) -> None:
        """The model is gone: its batch is not held without it."""
        if self._call is not None and self._call.model is reference:
            self.forget()
            self._missed = True

    def forget(self) -> None:
        """The step was not made."""
        self._call = self._targets = None

    def facts(self) -> dict[str, Fact]:
        """`mode_effect`: how far the outputs move from the one mode to the other, of their own size (root mean
        squares); `statistics_effect`: the same where only layers that keep running statistics change their mode;
        `modes_loss_train`, `modes_loss_eval` and `modes_loss_first`. Nothing where that could not be asked."""
        kept_call, targets = self._call, self._targets
        training = frozenset(m for known in self._training if (m := known()) is not None)
        self.forget()
        if kept_call is None:
            return {"mode_not_checked": LET_GO} if self._missed else {}
        call = kept_call.whole()
        if call is None:
            return {"mode_not_checked": LET_GO}
        model = call[0]
        told = training or frozenset(
            m for m in model.modules() if modal(m)
        )  # trained in evaluation mode throughout
        kept = frozenset(m for m in told if getattr(m, "track_running_stats", False))
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                as_used, as_trained = outputs(call, frozenset()), outputs(call, told)
                by_batch = outputs(call, kept) if kept else None
                both = [loss_of(self._kind, out, targets) for out in (as_trained, as_used)]
        except Exception as error:  # noqa: BLE001 - the user's model is called more often than it was made for
            return {"mode_not_checked": f"the model could not be called: {type(error).__name__}"}
        found: dict[str, Fact | None] = {
            "mode_effect": apart(as_trained, as_used),
            "statistics_effect": apart(by_batch, as_used),
        }
        if self._first is not None and None not in both:
            found |= zip(
                ("modes_loss_train", "modes_loss_eval", "modes_loss_first"),
                (*both, self._first),
                strict=True,
            )
        return {name: round(float(value), 6) for name, value in found.items() if value is not None}


def loss_of(kind: str, found: torch.Tensor | None, targets: torch.Tensor | None) -> float | None:
    """The mean of a loss of outputs and targets; None where it is not one of these two alone."""
    loss = LOSSES.get(kind)
    if loss is None or found is None or targets is None or targets.device != found.device:
        return None
    if targets.is_floating_point() and found.shape == targets.shape:
        return float(loss(found, targets))
    by_row = found.dim() > 1 and found.numel() == targets.numel() * found.shape[-1]
    if targets.is_floating_point() or kind != BY_CLASS or not by_row:
        return None
    return float(loss(found.reshape(-1, found.shape[-1]).float(), targets.reshape(-1)))


def outputs(
    call: tuple[nn.Module, Any, dict[str, Any]], training: frozenset[nn.Module]
) -> torch.Tensor | None:
    """The first output of a call in evaluation mode but for some modules; what is drawn is drawn alike each time."""
    model, args, kwargs = call
    with untouched(model), torch.no_grad(), Aside():
        model.eval()
        for module in training:
            module.train()
        output = model(*args, **kwargs)
    logits = getattr(output, "logits", None)
    found = logits if isinstance(logits, torch.Tensor) else first_tensor(output)
    return None if found is None else found.detach()


def apart(one: torch.Tensor | None, other: torch.Tensor | None) -> float | None:
    """Root mean square of the difference over the larger of the two outputs'; None where they cannot be compared."""
    if one is None or other is None or one.shape != other.shape or not one.is_floating_point():
        return None
    size = max(float(t.double().square().mean()) for t in (one, other)) if one.numel() else 0.0
    moved = float((one.double() - other.double()).square().mean()) if one.numel() else 0.0
    return (moved / size) ** 0.5 if 0 < size < float("inf") and moved - moved == 0 else None
