"""A loop whose modules and optimizers are at hand: hooks on them alone, from the beginning to the end of a watch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from traindx.capture.session.loop import Loop
from traindx.capture.session.session import Session
from traindx.errors import ConfigError


def watches(models: Sequence[Any], optimizers: Sequence[Any]) -> bool:
    """Whether these are PyTorch's. Raises ConfigError where the optimizer of its modules is missing."""
    if not all(isinstance(model, torch.nn.Module) for model in models):
        return False
    hooked = [hasattr(optimizer, "register_step_pre_hook") for optimizer in optimizers]
    if models and not (hooked and all(hooked)):
        raise ConfigError("traindx.watch: a PyTorch module needs its optimizer (or the list of them) beside it")
    return any(hooked)


class TorchLoop(Loop):
    """Hooks on the steps of optimizers, and on one small parameter, which sees backward passes."""

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
        self._in_backward: torch.Tensor | None = None
        self._backward_handle: Any = None

    def begin(self, stepped: Callable[[], None]) -> None:
        session, self._stepped = self.session, stepped
        for i, model in enumerate(self._models):
            session.add_model(model, str(i) if i else "")
        for optimizer in self._optimizers:
            session.add_optimizer(optimizer)
            self._handles.append(optimizer.register_step_pre_hook(self._step_begins))
            self._handles.append(optimizer.register_step_post_hook(self._step_ends))
        if self._scaler is not None:
            session.add_scaler(self._scaler)
        self._hook_backward()

    def end(self) -> None:
        for handle in self._handles:
            handle.remove()
        self._hear_backward(False)
        self._handles, self._in_backward = [], None

    def _step_begins(self, optimizer: torch.optim.Optimizer, args: Any, kwargs: Any) -> None:
        self.session.optimizer_step_begin(optimizer)

    def _step_ends(self, optimizer: torch.optim.Optimizer, args: Any, kwargs: Any) -> None:
        before = self.session.step
        self.session.optimizer_step_end(optimizer)
        if not self.session.active:
            self.end()
            return
        if self.session.phases != (self._backward_handle is not None):
            self._hear_backward(self.session.phases)
        if self.session.step != before:
            self._stepped()

    def _hook_backward(self) -> None:
        """See backward passes by a hook on one small parameter: whether its gradient was zeroed."""
        given = [p for o in self._optimizers for g in o.param_groups for p in g["params"] if p.requires_grad]
        if given and not any("_orig_mod" in m._modules for m in self._models):
            self._in_backward = min(given, key=lambda p: p.numel())
            self._hear_backward(True)

    def _hear_backward(self, wanted: bool) -> None:
        if self._backward_handle is not None:
            self._backward_handle.remove()
            self._backward_handle = None
        if wanted and self._in_backward is not None:
            self._backward_handle = self._in_backward.register_hook(self._backward_seen)

    def _backward_seen(self, gradient: torch.Tensor) -> None:
        if self._in_backward is not None:
            left = self._in_backward.grad
            stale = left is not None and (not left.is_cpu or bool(left.detach().any()))
            self.session.backward_seen(stale)
