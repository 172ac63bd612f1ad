"""Whether a model that predicts the next token can see the token that it predicts.

Asked once, when the recording is over: in a recorded training batch, the second half of each sequence is
replaced by that of another one, and the outputs for the first half are compared. In a causal model they do
not change. No step of the training is touched: modes, buffers and random state are restored, as the script
may go on."""

from typing import Any

import torch
from torch import nn
from torch.utils._pytree import tree_map

from traindx.capture.torch.measure.models.tree import is_compiled
from traindx.capture.torch.measure.reruns.recorded_call import Call, NotRerun, RecordedCall, allow_repeats
from traindx.capture.torch.measure.tensors.views import any_tensor, tensors_in
from traindx.vocabulary import Fact

FEWEST = 4  # tokens of a sequence
MATCHING = 0.9  # of the targets that are the next token: the rest is masked, or crosses a border
MOST_VALUES = 1 << 24  # in the outputs of a batch that is read
LABELS = "labels"  # by this name, models of transformers are given the inputs themselves, and shift them


class FutureTokens:
    """A training call of a language model, repeated when the recording is over."""

    def __init__(self) -> None:
        self.call = RecordedCall()

    def record(self, model: nn.Module, args: Any, kwargs: Any) -> None:
        """A sampled training call of a whole model: recorded where it is given tokens."""
        if any(is_tokens(t) for t in tensors_in((args, kwargs))) and not is_compiled(model):
            self.call.record(model, args, kwargs)

    def record_targets(self, targets: Any) -> None:
        found = any_tensor(targets)
        if found is not None and not found.is_floating_point():
            self.call.record_targets(found)

    def facts(self) -> dict[str, Fact]:
        """`future_effect`: how far the outputs for earlier tokens change, relative to their size; nothing
        where the targets are not the next tokens, or the reason where this could not be tried."""
        try:
            call = self.call.take(with_targets=True)
            effect = None if call is None else future_effect(call)
        except NotRerun as why:
            return {"future_not_checked": str(why)}
        return {} if effect is None else {"future_effect": round(effect, 6)}


def future_effect(call: Call) -> float | None:
    assert call.targets is not None
    found = predicted_tokens(call.args, call.kwargs, call.targets)
    if found is None:
        return None
    with allow_repeats(call.model):
        return effect_of_replacing(call, *found)


def is_tokens(found: torch.Tensor) -> bool:
    """Whether these are integers `[n, t]` or `[t, n]` of some length."""
    integers = not found.is_floating_point() and not found.is_complex() and found.dtype != torch.bool
    return integers and found.dim() == 2 and max(found.shape) >= FEWEST


def predicted_tokens(
    args: Any, kwargs: dict[str, Any], targets: torch.Tensor
) -> tuple[torch.Tensor, int] | None:
    """The tokens given to the model whose next tokens are the targets, and their time dimension."""
    for given in tensors_in((args, {k: v for k, v in kwargs.items() if k != LABELS})):
        if not is_tokens(given) or given.numel() != targets.numel() or given.device != targets.device:
            continue
        wanted = targets.reshape(given.shape)
        same = (wanted == given).float().mean()
        if LABELS in kwargs and float(same) > MATCHING:
            return given, 1
        for time in (1, 0):
            length = given.shape[time]
            if length < FEWEST:
                continue
            after = given.narrow(time, 1, length - 1) == wanted.narrow(time, 0, length - 1)
            if float(after.float().mean()) > max(MATCHING, float(same)):
                return given, time
    return None


def effect_of_replacing(call: Call, tokens: torch.Tensor, time: int) -> float | None:
    """The largest change of the outputs before the middle, over their largest value; None where the outputs
    are not by token, or other tokens change nothing."""
    half, length = tokens.shape[time] // 2, tokens.shape[time]
    other = tokens.clone()
    if tokens.shape[1 - time] == 1:  # there is no other sequence to take tokens from
        replacement = tokens.narrow(time, 0, length - half).flip(time)
    else:
        replacement = tokens.narrow(time, half, length - half).roll(1, 1 - time)
    other.narrow(time, half, length - half).copy_(replacement)
    call.model.eval()
    before, after = (outputs_by_token(call, tokens, given) for given in (tokens, other))
    if before is None or after is None or before.shape != after.shape or bool((tokens == other).all()):
        return None
    change = (after - before).abs()
    size = float(before.abs().max())
    late = float(change.narrow(time, half, length - half).max())
    if not size > 0 or not late > 0 or late - late != 0:
        return None
    return float(change.narrow(time, 0, half).max()) / size


def outputs_by_token(call: Call, old: torch.Tensor, new: torch.Tensor) -> torch.Tensor | None:
    """The outputs by token, with the tokens replaced."""
    output = call.model(*replace_tensor(call.args, old, new), **replace_tensor(call.kwargs, old, new))
    for found in (getattr(output, "logits", None), *tensors_in(output)):
        readable = isinstance(found, torch.Tensor) and found.is_floating_point()
        if not readable or found.numel() > MOST_VALUES:
            continue
        if found.dim() == 2 and len(found) == old.numel():
            found = found.reshape(*old.shape, -1)
        if found.dim() == 3 and found.shape[:2] == old.shape:
            return found.float()
    return None


def replace_tensor(arguments: Any, old: torch.Tensor, new: torch.Tensor) -> Any:
    """The same nest with one tensor replaced."""
    return tree_map(lambda part: new if part is old else part, arguments)
