"""Everything that is measured by repeating a training call when the recording is over."""

from __future__ import annotations

from typing import Any

from torch import nn

from traindx.capture.torch.measure.reruns.future_tokens import FutureTokens
from traindx.capture.torch.measure.reruns.train_and_eval import TrainAndEval
from traindx.capture.torch.measure.tensors.shards import several_processes
from traindx.vocabulary.setup import Fact


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
