"""`traindx.watch`: record the loop that is running. Nothing of this is part of a model, a parameter or an optimizer."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from traindx.capture.process.guard import ran_out_of_memory
from traindx.capture.process.patches import Patches
from traindx.capture.session.session import Session

if TYPE_CHECKING:
    import torch

Diagnosis = TypeVar("Diagnosis")
Batch = TypeVar("Batch")


class Watch(Generic[Diagnosis]):
    """A session over models and optimizers that are at hand. A context manager: it listens
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
        self._patches = Patches()
        self._smallest: torch.Tensor | None = None  # parameter, whose gradient tells of backward passes
        self._inside_backward = False

    def __enter__(self) -> Watch[Diagnosis]:
        import torch
        from torch.optim import optimizer as optim

        session = self.session
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
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._patches.undo()
        for handle in self._handles:
            handle.remove()
        self._handles, self._smallest = [], None
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
        if any(optimizer is one for one in self._optimizers):
            self.session.optimizer_step_begin(optimizer)

    def _step_ends(self, optimizer: torch.optim.Optimizer, args: Any, kwargs: Any) -> None:
        if not any(optimizer is one for one in self._optimizers):
            return
        before = self.session.step
        self.session.optimizer_step_end(optimizer)
        step = self.session.step
        if self.session.active and self._on_finding is not None and step != before and step % self._check_every == 0:
            self._check(self._on_finding)

    def _check(self, on_finding: Callable[[Diagnosis], None]) -> None:
        diagnosis = self.diagnose()
        found = {f.slug for run in diagnosis.document.runs for f in run.findings}  # type: ignore[attr-defined]
        if found - self._told:
            on_finding(diagnosis)
        self._told = found

    def _backward(self, original: Callable[..., Any]) -> Callable[..., Any]:
        from torch.compiler import is_compiling

        watch = self

        def backward(*args: Any, **named: Any) -> Any:
            if is_compiling() or watch._inside_backward or not (watch.session.active and watch.session.phases):
                return original(*args, **named)
            left, mark = watch._gradient()
            stale = left is not None and (left.is_sparse or not left.is_cpu or bool(left.detach().any()))
            watch._inside_backward = True
            try:
                result = original(*args, **named)
            finally:
                watch._inside_backward = False
            now, changed = watch._gradient()
            if now is not left or mark != changed:
                watch.session.backward_seen(stale)
            return result

        return backward

    def _gradient(self) -> tuple[torch.Tensor | None, int]:
        """That of the smallest parameter, and what tells whether it has changed."""
        found = None if self._smallest is None else self._smallest.grad
        return found, 0 if found is None else found._version
