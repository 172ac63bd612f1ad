"""Whether a model that foretells the next token looks at what it foretells.

Asked once, when the recording is over: in a recorded training batch, each sequence is given the second half of another
one, and the outputs for the first half are looked at. In a causal model they stay as they were. No step of the training
is touched; modes, buffers and random state are put back, for a script may go on.
"""

from __future__ import annotations

import warnings
from typing import Any

import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

from traindx.capture.torch.measure.models.tree import compiled
from traindx.capture.torch.measure.reruns.recorded_call import Call, call_of
from traindx.capture.torch.measure.reruns.restored_state import untouched
from traindx.capture.torch.measure.tensors.shards import several_processes
from traindx.capture.torch.measure.tensors.views import any_tensor, tensors_in
from traindx.vocabulary.setup import Fact

FEWEST = 4  # tokens of a sequence
FORETOLD = 0.9  # of the targets that are the token after: the rest is masked, or lies across a border
MOST_VALUES = 1 << 24  # in the outputs of a batch that is looked at
LET_GO = "the model or its batch was let go before the run ended"
LABELS = "labels"  # by this name, models of transformers are given the inputs themselves, and shift them


class Aside(TorchDispatchMode):  # type: ignore[misc]
    """While it is entered, capture takes no notice (see `hooks.traced`)."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func(*args, **(kwargs or {}))


class Future:
    """A training call of a model, and what its loss was compared with."""

    def __init__(self) -> None:
        self._call: Call | None = None
        self._targets: torch.Tensor | None = None
        self._missed = False  # a model went unasked

    def called(self, model: nn.Module, args: Any, kwargs: Any) -> None:
        """A sampled training call of a whole model: kept where it is given tokens. Of several processes each would have
        to call it again at the same time, and one that has ended does not."""
        if several_processes():
            return
        if any(is_tokens(t) for t in tensors_in((args, kwargs))) and not compiled(model):
            self._call = call_of(model, args, kwargs, self._gone)

    def want(self, targets: Any) -> None:
        """What the loss of that step is compared with."""
        found = any_tensor(targets)
        if found is not None and not found.is_floating_point():
            self._targets = found.detach()

    def _gone(self, reference: Any) -> None:
        """The model is gone: its batch is not held without it."""
        if self._call is not None and self._call.model is reference:
            self.forget()
            self._missed = True

    def forget(self) -> None:
        """The step was not made."""
        self._call = self._targets = None

    def asks(self, model: nn.Module) -> bool:
        """Whether a call of this model waits to be made again."""
        return self._call is not None and self._call.model() is model

    def facts(self) -> dict[str, Fact]:
        """`future_effect`: how far the outputs for earlier tokens move, of their own size; nothing where no next token
        is foretold, or where that could not be tried (then why)."""
        kept, targets = self._call, self._targets
        self.forget()
        if kept is None or targets is None:
            return {"future_not_checked": LET_GO} if self._missed else {}
        call = kept.whole()
        if call is None:
            return {"future_not_checked": LET_GO}
        found = foretold(call[1], call[2], targets)
        if found is None:
            return {}
        try:
            with untouched(call[0]), warnings.catch_warnings(), torch.no_grad(), Aside():
                warnings.simplefilter("ignore")
                effect = effect_of(*call, *found)
        except Exception as error:  # noqa: BLE001 - the user's model is called once more than it was made for
            return {"future_not_checked": f"the model could not be called: {type(error).__name__}"}
        return {} if effect is None else {"future_effect": round(effect, 6)}


def is_tokens(found: torch.Tensor) -> bool:
    """Whether these are whole numbers[n, t] or [t, n] of some length."""
    whole = not found.is_floating_point() and not found.is_complex() and found.dtype != torch.bool
    return whole and found.dim() == 2 and max(found.shape) >= FEWEST


def foretold(args: Any, kwargs: dict[str, Any], targets: torch.Tensor) -> tuple[torch.Tensor, int] | None:
    """The tokens given to the model whose successors are the targets, and their dimension of time."""
    for given in tensors_in((args, {k: v for k, v in kwargs.items() if k != LABELS})):
        if not is_tokens(given) or given.numel() != targets.numel() or given.device != targets.device:
            continue
        wanted = targets.reshape(given.shape)
        same = (wanted == given).float().mean()
        if LABELS in kwargs and float(same) > FORETOLD:
            return given, 1
        for time in (1, 0):
            length = given.shape[time]
            if length < FEWEST:
                continue
            after = given.narrow(time, 1, length - 1) == wanted.narrow(time, 0, length - 1)
            if float(after.float().mean()) > max(FORETOLD, float(same)):
                return given, time
    return None


def effect_of(
    model: nn.Module, args: Any, kwargs: dict[str, Any], tokens: torch.Tensor, time: int
) -> float | None:
    """The largest change of the outputs before the middle, over their largest value; None where the outputs are not by
    token, or other tokens change nothing."""
    half, length = tokens.shape[time] // 2, tokens.shape[time]
    other = tokens.clone()
    alone = tokens.shape[1 - time] == 1
    rest = (
        tokens.narrow(time, 0, length - half).flip(time)
        if alone
        else tokens.narrow(time, half, length - half)
    )
    other.narrow(time, half, length - half).copy_(rest if alone else rest.roll(1, 1 - time))
    model.eval()
    before, after = (answers(model, args, kwargs, tokens, given) for given in (tokens, other))
    if before is None or after is None or before.shape != after.shape or bool((tokens == other).all()):
        return None
    moved = (after - before).abs()
    size = float(before.abs().max())
    late = float(moved.narrow(time, half, length - half).max())
    if not size > 0 or not late > 0 or late - late != 0:
        return None
    return float(moved.narrow(time, 0, half).max()) / size


def answers(
    model: nn.Module, args: Any, kwargs: dict[str, Any], old: torch.Tensor, new: torch.Tensor
) -> torch.Tensor | None:
    """The outputs by token, with the tokens exchanged."""
    output = model(*replaced(args, old, new), **replaced(kwargs, old, new))
    for found in (getattr(output, "logits", None), *tensors_in(output)):
        if (
            not isinstance(found, torch.Tensor)
            or not found.is_floating_point()
            or found.numel() > MOST_VALUES
        ):
            continue
        if found.dim() == 2 and len(found) == old.numel():
            found = found.reshape(*old.shape, -1)
        if found.dim() == 3 and found.shape[:2] == old.shape:
            return found.float()
    return None


def replaced(found: Any, old: torch.Tensor, new: torch.Tensor) -> Any:
    """The same nest with one tensor exchanged."""
    if found is old:
        return new
    if isinstance(found, dict):
        return {k: replaced(v, old, new) for k, v in found.items()}
    if type(found) in (list, tuple):
        return type(found)(replaced(v, old, new) for v in found)
    return found
