"""The largest attention logit of each attention module, on the forward passes that are sampled.

Logits that grow without bound make the attention weights one-hot and training unstable (Dehghani et al.
2023, Scaling vision transformers to 22 billion parameters, arXiv:2302.05442). Fused attention never exposes
its logits, so they are recomputed from a slice of queries and keys: at most one sample, and ROWS queries and
keys of each head. The reading is thus a lower bound of the maximum. The functions are wrapped only while a
pass is sampled."""

import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from types import FrameType
from typing import Any

import torch
from torch import nn

from traindx.capture.process.patches import Make, variables_of
from traindx.capture.torch.hooks import is_tracing, something_is_compiled
from traindx.capture.torch.measure.forward_pass.wrapped_functions import WrappedFunctions
from traindx.capture.torch.measure.tensors.views import isolate_operations

ROWS = 128  # queries and keys of a head that are read
MOST_CALLS = 4  # of one module in a pass that have readings of their own
PATIENCE = 3  # sampled passes without attention, after which no more are observed
FRAMES = 12  # frames in which the calling module is looked for


class Observer:
    """Collects the largest logit of each module from `arm` to `disarm`, on the device of the queries."""

    def __init__(self, failed: Callable[[str, Exception], None]) -> None:
        self._failed = failed
        self.functions = WrappedFunctions(self._wrappers)
        self._names: dict[int, str] = {}
        self._inside = False  # one of these functions calls another
        self._fruitless = 0  # sampled passes without attention
        self._turn = 0
        self._readings: dict[str, torch.Tensor] = {}

    def arm(self, models: Sequence[tuple[str, nn.Module]]) -> None:
        """Wrap the functions for the coming pass, unless the last ones had no attention."""
        if self.functions.armed or self._fruitless >= PATIENCE or something_is_compiled():
            return
        self._names = {
            id(module): ".".join(part for part in (name, path) if part) or type(module).__name__
            for name, model in models
            for path, module in model.named_modules()
        }
        self._turn += 1
        self._readings = {}
        self.functions.arm([model for _, model in models])

    def _wrappers(self) -> Iterator[tuple[Any, str, Make]]:
        yield nn.functional, "scaled_dot_product_attention", partial(self._wrapped, self._of_queries)
        for owner in (nn.functional, torch, torch.Tensor):
            yield owner, "softmax", partial(self._wrapped, self._of_scores)

    def disarm(self) -> None:
        """Put the functions back."""
        if self.functions.armed:
            self.functions.disarm()
            self._fruitless = 0 if self._readings else self._fruitless + 1

    def take(self) -> dict[str, torch.Tensor]:
        """The readings since the last call, by module."""
        found, self._readings = self._readings, {}
        return found

    def _wrapped(self, measure: Callable[..., Any], original: Callable[..., Any]) -> Callable[..., Any]:
        observer = self

        def wrapper(*args: Any, **named: Any) -> Any:
            outermost, observer._inside = not observer._inside, True
            try:
                result = original(*args, **named)
            finally:
                observer._inside = not outermost
            if observer.functions.armed and outermost and torch.is_grad_enabled():
                observer._read(measure, sys._getframe(1), args, named)
            return result

        return wrapper

    def _read(self, measure: Callable[..., Any], frame: FrameType, args: Any, named: Any) -> None:
        if is_tracing():
            return
        self._inside = True
        try:
            name, module = self._calling_module(frame)
            if module is not None:
                with torch.no_grad(), isolate_operations():
                    found = measure(module, *args, **named)
                if found is not None:
                    self._readings[self._numbered(name)] = found
        except Exception as error:  # noqa: BLE001 - nothing may be raised inside the user's forward pass
            self.disarm()
            self._fruitless = PATIENCE
            self._failed("attention", error)
        finally:
            self._inside = False

    def _numbered(self, name: str) -> str:
        """The name, numbered from the second call on. Calls beyond MOST_CALLS share the last number."""
        for number in range(2, MOST_CALLS + 1):
            if name not in self._readings:
                break
            name = f"{name.split('#')[0]}#{number}"
        return name

    def _calling_module(self, frame: FrameType | None) -> tuple[str, nn.Module | None]:
        """The innermost module whose method is running."""
        for _ in range(FRAMES):
            if frame is None:
                break
            owner = variables_of(frame).get("self") if "self" in frame.f_code.co_varnames[:1] else None
            if isinstance(owner, nn.Module) and id(owner) in self._names:
                return self._names[id(owner)], owner
            frame = frame.f_back
        return "", None

    def _of_queries(
        self, module: nn.Module, query: Any, key: Any, value: Any, *rest: Any, **named: Any
    ) -> Any:
        """From the arguments of fused attention."""
        mask = named.get("attn_mask", rest[0] if rest else None)
        causal = bool(named.get("is_causal", rest[2] if len(rest) > 2 else False))
        return largest_logit(query, key, mask, causal, named.get("scale"), self._turn)

    def _of_scores(self, module: nn.Module, scores: Any, *rest: Any, **named: Any) -> Any:
        """From the argument of a softmax, where it is that of an attention: over the last of four
        dimensions, or of three in a module whose class is named after attention."""
        dim = named.get("dim", rest[0] if rest else None)
        named_so = any(word in type(module).__name__.lower() for word in ("attention", "attn"))
        few = not isinstance(scores, torch.Tensor) or scores.dim() < (3 if named_so else 4)
        if few or dim not in (-1, scores.dim() - 1) or not scores.numel():
            return None
        scores = scores.detach().reshape(-1, *scores.shape[-2:])
        heads = scores[: max(1, ROWS // 8)]
        return heads[:, :: max(1, heads.shape[1] // ROWS)].amax().float()


def largest_logit(
    query: torch.Tensor, key: torch.Tensor, mask: Any, causal: bool, scale: float | None, turn: int
) -> torch.Tensor | None:
    """The largest of query * key * scale over a slice: one sample (another one each turn), all of its heads.
    `mask` is applied where it has two dimensions."""
    query, key = query.detach(), key.detach()
    if query.dim() < 2 or not query.numel() or not key.numel():
        return None
    if query.dim() > 3:
        samples = query.shape[0]
        query, key = query[turn % samples], key[turn % key.shape[0]]
    if (
        query.dim() > 2 and key.shape[-3] != query.shape[-3]
    ):  # grouped-query attention: several heads share keys
        key = key.repeat_interleave(query.shape[-3] // key.shape[-3], -3)
    rows = torch.arange(0, query.shape[-2], max(1, query.shape[-2] // ROWS), device=query.device)
    columns = torch.arange(0, key.shape[-2], max(1, key.shape[-2] // ROWS), device=query.device)
    with torch.autocast(query.device.type, enabled=False):
        logits = query[..., rows, :].float() @ key[..., columns, :].float().transpose(-1, -2)
    logits = logits * (query.shape[-1] ** -0.5 if scale is None else scale)
    if causal:
        logits = logits.masked_fill(columns > rows[:, None], float("-inf"))
    if isinstance(mask, torch.Tensor) and mask.dim() == 2 and mask.shape == (query.shape[-2], key.shape[-2]):
        part = mask.detach()[rows][:, columns]
        logits = logits.masked_fill(~part, float("-inf")) if part.dtype == torch.bool else logits + part
    return logits.amax()
