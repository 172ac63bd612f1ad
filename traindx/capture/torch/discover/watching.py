"""Watches a loop whose models and optimizers are given: global hooks that react to these objects only.

Nothing is attached to a model, a parameter or an optimizer."""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.compiler import is_compiling
from torch.optim import optimizer as optim

from traindx.capture.process.patches import Patches, remove_all
from traindx.capture.session import Loop, Session
from traindx.capture.torch.measure.tensors.views import isolate_operations
from traindx.errors import ConfigError


def watches(models: Sequence[Any], optimizers: Sequence[Any]) -> bool:
    """Whether these are PyTorch's. Raises ConfigError where the optimizer of its modules is missing."""
    if not all(isinstance(model, torch.nn.Module) for model in models):
        return False
    hooked = [hasattr(optimizer, "register_step_pre_hook") for optimizer in optimizers]
    if models and not (hooked and all(hooked)):
        raise ConfigError(
            "traindx.watch: a PyTorch module needs its optimizer (or the list of them) as the second argument"
        )
    return any(hooked)


class TorchLoop(Loop):
    """Observes the steps of its optimizers, and backward passes by their effect on one small parameter."""

    def __init__(
        self,
        session: Session,
        models: Sequence[torch.nn.Module],
        optimizers: Sequence[torch.optim.Optimizer],
        scaler: Any = None,
    ) -> None:
        self.session = session
        self._models, self._optimizers, self._scaler = models, optimizers, scaler
        self._handles: list[Any] = []
        self._patches = Patches()
        self._smallest: torch.Tensor | None = None  # parameter, whose gradient shows backward passes
        self._inside_backward = False

    def begin(self, stepped: Callable[[], None]) -> None:
        session, self._stepped = self.session, stepped
        for i, model in enumerate(self._models):
            session.add_model(model, str(i) if i else "")
        for optimizer in self._optimizers:
            session.add_optimizer(optimizer)
        self._handles.append(optim.register_optimizer_step_pre_hook(self._step_begins))
        self._handles.append(optim.register_optimizer_step_post_hook(self._step_ends))
        if self._scaler is not None:
            session.add_scaler(self._scaler)
        given = [p for o in self._optimizers for g in o.param_groups for p in g["params"] if p.requires_grad]
        self._smallest = min(given, key=lambda p: p.numel(), default=None)
        self._patches.replace(torch.autograd, "backward", self._backward)

    def end(self) -> None:
        self._patches.undo()
        remove_all(self._handles)
        self._smallest = None
        self._models, self._optimizers, self._scaler = [], [], None  # the watch may outlive them

    def _step_begins(self, optimizer: torch.optim.Optimizer, args: Any, kwargs: Any) -> None:
        if any(optimizer is known for known in self._optimizers):
            self.session.optimizer_step_begin(optimizer)

    def _step_ends(self, optimizer: torch.optim.Optimizer, args: Any, kwargs: Any) -> None:
        if not any(optimizer is known for known in self._optimizers):
            return
        before = self.session.step
        self.session.optimizer_step_end(optimizer)
        if self.session.active and self.session.step != before:
            self._stepped()

    def _backward(self, original: Callable[..., Any]) -> Callable[..., Any]:
        loop = self

        def backward(*args: Any, **named: Any) -> Any:
            if is_compiling() or loop._inside_backward or not (loop.session.active and loop.session.phases):
                return original(*args, **named)
            with isolate_operations():
                left, mark = loop._gradient()
                stale = left is not None and (left.is_sparse or not left.is_cpu or bool(left.detach().any()))
            loop._inside_backward = True
            try:
                result = original(*args, **named)
            finally:
                loop._inside_backward = False
            with isolate_operations():
                now, changed = loop._gradient()
            if now is not left or mark != changed:
                loop.session.backward_seen(stale)
            return result

        return backward

    def _gradient(self) -> tuple[torch.Tensor | None, int]:
        """The gradient of the smallest parameter, and its version, which changes with it."""
        found = None if self._smallest is None else self._smallest.grad
        return found, 0 if found is None else found._version
