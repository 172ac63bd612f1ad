"""The last training step, recorded for the probes of `traindx check`."""

from collections.abc import Callable
from typing import Any, NamedTuple

import torch

from traindx.capture.process.patches import remove_all
from traindx.capture.session import Stream
from traindx.capture.session.events import LossComputed, LossDifferentiated, ModelFed
from traindx.capture.torch.discover.manual import leaf_tensors
from traindx.capture.torch.hooks import CALLS
from traindx.capture.torch.measure.loss.graph import growth_in_graph
from traindx.capture.torch.measure.tensors.views import any_tensor


class LossCall(NamedTuple):
    """A call of a loss function: `original(given, *args, **named)` gave `value`."""

    original: Callable[..., Any]
    given: torch.Tensor
    args: tuple[Any, ...]
    named: dict[str, Any]
    value: torch.Tensor

    @property
    def target(self) -> Any:
        return self.args[0] if self.args else self.named.get("target")

    def again(self, given: torch.Tensor, target: Any) -> torch.Tensor:
        """The loss of another input and target."""
        if self.args:
            found: torch.Tensor = self.original(given, target, *self.args[1:], **self.named)
        else:
            found = self.original(given, **{**self.named, "target": target})
        return found


class Live:
    """The last training step: the model, its arguments and output, the call of the loss function, and how
    the loss that backward was called on grows with the batch."""

    def __init__(self, stream: Stream) -> None:
        self.stream = stream
        stream.attentive = True
        stream.hear(ModelFed, self.record_call)
        stream.hear(LossComputed, self.record_loss)
        stream.hear(LossDifferentiated, self.read_graph)
        self.model: torch.nn.Module | None = None
        self.inputs: tuple[Any, ...] = ()
        self.named: dict[str, Any] = {}
        self.output: Any = None
        self.loss: LossCall | None = None
        self.first_loss: float | None = None
        self.differentiated: torch.Tensor | None = None  # what backward was called on
        self.growth: float | None = None
        self.leaves: list[torch.Tensor] = []
        self.handles: list[Any] = []

    def record_call(self, event: ModelFed) -> None:
        """A root is about to be called in training."""
        module, inputs, named = event
        if module is not self.model:
            remove_all(self.handles)
            self.handles.append(CALLS.add_after_hook(module, self.record_output))
        self.model, self.inputs, self.named = module, inputs, named

    def record_output(self, _module: Any, _inputs: Any, output: Any) -> None:
        self.output = output

    def record_loss(self, event: LossComputed) -> None:
        """A loss function was called."""
        original, given, args, named, value = event
        if isinstance(given, torch.Tensor) and isinstance(value, torch.Tensor) and value.requires_grad:
            self.loss = LossCall(original, given, args, named, value)

    def read_graph(self, event: LossDifferentiated) -> None:
        """The graph is complete now, and will be freed by the backward pass."""
        loss = event.loss
        self.differentiated = loss.detach()
        if self.first_loss is None:
            self.first_loss = float(self.differentiated)
        self.growth = growth_in_graph(loss, self.rows())
        if not self.leaves:
            self.leaves = leaf_tensors(loss)

    def rows(self) -> int:
        """Rows of the first input; 0 where it has none."""
        first = any_tensor((self.inputs, self.named))
        return len(first) if first is not None and first.dim() else 0

    def samples(self) -> int:
        """Samples in the batch; 0 where that is not clear."""
        count = self.rows()
        target = self.loss.target if self.loss is not None else None
        loader = self.stream.scene.loader
        batch_size = getattr(loader(), "batch_size", None) if loader is not None else None
        sure = count == batch_size or (
            isinstance(target, torch.Tensor) and target.dim() and len(target) == count
        )
        return count if sure else 0

    def stop(self) -> None:
        """Record no further steps."""
        self.stream.attentive = False
        remove_all(self.handles)
