"""Which dimension of a batch counts its samples: PyTorch's recurrent layers and attention take the positions of
sequences first, unless they are made with `batch_first`. Bags of words are given one after the other, in one row."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch.nn.utils.rnn import PackedSequence

from traindx.capture.process.patches import remove_all
from traindx.capture.session.habits import Habits
from traindx.capture.torch.hooks import CALLS

SEQUENTIAL = (nn.RNNBase, nn.MultiheadAttention)


class SampleAxis:
    """Compares what the first such layer is called with to the batch: if they agree, sequences come first in both."""

    def __init__(self, habits: Habits) -> None:
        self._habits, self._axis = habits, 0
        self._handles: list[Any] = []
        self._bags: list[Any] = []
        self._shape: tuple[int, ...] = ()  # of the last batch
        self._widths: set[int] = set()  # of a sample, for models that begin with a linear layer

    def watch(self, model: nn.Module) -> None:
        layers = [m for m in model.modules() if isinstance(m, SEQUENTIAL) and not m.batch_first]
        self._handles += [CALLS.add_before_hook(layer, self._called) for layer in layers]
        first = next((m for m in model.modules() if not list(m.children())), None)
        self._widths |= {first.in_features} if isinstance(first, nn.Linear) else set()
        bags = [m for m in model.modules() if isinstance(m, nn.EmbeddingBag)]
        self._bags += [CALLS.add_before_hook(bag, self._bag_called) for bag in bags]

    def with_batch(self, inputs: Any, found: torch.Tensor | None) -> Any:
        """A sample `found` in them that a linear layer gets without a batch, as a batch of one: what an agent observes."""
        if found is None or found.ndim != 1 or not found.is_floating_point():
            return inputs
        return found[None] if len(found) in self._widths else inputs

    def samples(self, inputs: torch.Tensor) -> int:
        """How many samples a batch has, as far as is known before the model is called."""
        self._shape = tuple(inputs.shape)
        return self._shape[self._axis if len(self._shape) > 1 else 0]

    def targets(self, given: torch.Tensor | None) -> None:
        """One target for each of what comes first: those are the samples, and the layer gets them in the wrong order."""
        if self._axis and given is not None and tuple(given.shape) == self._shape[:1]:
            self._axis = 0
            self._habits.correct(self._shape[0])

    def release(self) -> None:
        remove_all(self._handles)
        remove_all(self._bags)

    def _bag_called(self, module: nn.Module, args: tuple[Any, ...], named: dict[str, Any]) -> None:
        """All words of a batch in one row, and where each bag begins: the bags are the samples."""
        given, begins = (*args, *named.values(), None, None)[:2]
        whole = isinstance(given, torch.Tensor) and given.ndim == 1 and tuple(given.shape) == self._shape
        if whole and isinstance(begins, torch.Tensor) and torch.is_grad_enabled():
            self._habits.correct(len(begins) - bool(module.include_last_offset))

    def _called(self, module: nn.Module, args: tuple[Any, ...], named: dict[str, Any]) -> None:
        given = next(iter((*args, *named.values())), None)
        if not torch.is_grad_enabled() or len(self._shape) < 2:
            return
        remove_all(self._handles)
        shape = tuple(given.shape[:2]) if isinstance(given, torch.Tensor) and given.ndim == 3 else ()
        packed = (
            len(given.batch_sizes) and int(given.batch_sizes[0]) if isinstance(given, PackedSequence) else 0
        )
        if shape == self._shape[:2] or (packed == self._shape[1] and packed != self._shape[0]):
            self._axis = 1
            self._habits.correct(self._shape[1])
