"""`traindx.watch`: record the loop that is running, by PyTorch's own hooks."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from traindx.capture.process.guard import ran_out_of_memory
from traindx.capture.session.session import Session

if TYPE_CHECKING:
    import torch

Diagnosis = TypeVar("Diagnosis")
Batch = TypeVar("Batch")


class Watch(Generic[Diagnosis]):
    """A session over models and optimizers that are at hand. A context manager: hooks are there
    from entering to leaving. `diagnose` is what turns a store into a diagnosis; `on_finding` is
    called with one every `check_every` steps, when it has findings that the last one had not."""

    def __init__(
        self,
        models: Sequence[torch.nn.Module],
        optimizers: Sequence[torch.optim.Optimizer],
        session: Session,
        diagnose: Callable[[Path], Diagnosis],
        *,
        on_finding: Callable[[Diagnosis], None] | None = None,
        check_every: int = 500,
        scaler: Any = None,
    ) -> None:
        self.session = session
        self._models, self._optimizers, self._scaler = models, optimizers, scaler
        self._diagnose, self._on_finding, self._check_every = diagnose, on_finding, check_every
        self._handles: list[Any] = []
        self._told: set[str] = set()
        self._in_backward: torch.Tensor | None = None
        self._backward_handle: Any = None

    def __enter__(self) -> Watch[Diagnosis]:
        session = self.session
        for i, model in enumerate(self._models):
            session.add_model(model, str(i) if i else "")
        for optimizer in self._optimizers:
            session.add_optimizer(optimizer)
            self._handles.append(optimizer.register_step_pre_hook(self._step_begins))
            self._handles.append(optimizer.register_step_post_hook(self._step_ends))
        if self._scaler is not None:
            session.add_scaler(self._scaler)
        self._hook_backward()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._detach()
        if kind is KeyboardInterrupt:
            self.session.event("stopped", "interrupted from the keyboard")
        elif kind is not None and issubclass(kind, Exception):
            memory = error is not None and ran_out_of_memory(error)
            self.session.event("out-of-memory" if memory else "crash", f"{kind.__name__}: {error}")
        self.session.close()

    def log(self, loss: Any = None, **metrics: Any) -> None:
        """What hooks cannot see: the training loss of this micro-batch, and any metric (names that
        begin with `val_` or `val/` are on held-out data). Call it before the optimizer's step."""
        if loss is not None:
            self.session.loss(loss)
            if self.session.wants_losses:
                self.session.before_backward(loss)
        for name, value in metrics.items():
            if name.startswith(("val_", "val/")):
                self.session.validation(name[4:], value)
            else:
                self.session.metric(name, value)

    def batch(self, inputs: Any, targets: Any = None) -> None:
        """A batch (without it the model's inputs are seen, but no targets)."""
        self.session.batch(inputs, targets)

    def loader(self, batches: Iterable[Batch]) -> Iterator[Batch]:
        """The same batches, with the time that each was waited for."""
        iterator = iter(batches)
        while True:
            began = time.perf_counter()
            try:
                batch = next(iterator)
            except StopIteration:
                return
            self.session.data_wait(time.perf_counter() - began)
            yield batch

    def diagnose(self) -> Diagnosis:
        """The diagnosis of what was recorded so far. Raises ReadError before the first step."""
        self.session.flush()
        return self._diagnose(self.session.folder)

    def _step_begins(self, optimizer: torch.optim.Optimizer, args: Any, kwargs: Any) -> None:
        self.session.optimizer_step_begin(optimizer)

    def _step_ends(self, optimizer: torch.optim.Optimizer, args: Any, kwargs: Any) -> None:
        before = self.session.step
        self.session.optimizer_step_end(optimizer)
        step = self.session.step
        if not self.session.active:
            self._detach()
            return
        if self.session.phases != (self._backward_handle is not None):
            self._hear_backward(self.session.phases)
        if self._on_finding is not None and step != before and step % self._check_every == 0:
            self._check(self._on_finding)

    def _check(self, on_finding: Callable[[Diagnosis], None]) -> None:
        diagnosis = self.diagnose()
        found = {f.slug for run in diagnosis.document.runs for f in run.findings}  # type: ignore[attr-defined]
        if found - self._told:
            on_finding(diagnosis)
        self._told = found

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

    def _detach(self) -> None:
        for handle in self._handles:
            handle.remove()
        self._hear_backward(False)
        self._handles, self._in_backward = [], None
