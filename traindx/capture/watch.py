"""`traindx.watch`: record the loop that is running. The framework is that of the model and optimizer."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Generic, TypeVar

from traindx.capture.framework import frameworks
from traindx.capture.process.guard import ran_out_of_memory
from traindx.capture.session import Loop
from traindx.errors import ConfigError

Diagnosis = TypeVar("Diagnosis")
Batch = TypeVar("Batch")


def loop_of(model: Any, optimizer: Any, out: Path | None, scaler: Any, options: dict[str, Any]) -> Loop:
    """The loop of the framework that `model` and `optimizer` are of. A framework that is not imported cannot
    have made them, and is not asked. `options` are those of `Session`. Raises ConfigError."""
    # Models of Keras may be modules of PyTorch, too: whoever computes with others is asked first.
    for framework in sorted(frameworks(), key=lambda f: len(f.computes_with), reverse=True):
        if framework.imported in sys.modules:
            loop = framework.loop(model, optimizer, out, scaler, options)
            if loop is not None:
                return loop
    *known, last = [framework.watched for framework in frameworks() if framework.watched]
    raise ConfigError(
        f"traindx.watch: a {type(model).__name__} is of no known framework; known are {', '.join(known)} and {last}"
    )


class Watch(Generic[Diagnosis]):
    """Records a loop in this process. A context manager: it adds hooks on entry and removes them on exit.
    `diagnose` turns a store into a diagnosis. `check` is called with the store every `check_every` steps. It returns
    `why_stop`, the reason to end the training ("" while it should go on)."""

    def __init__(
        self,
        loop: Loop,
        diagnose: Callable[[Path], Diagnosis],
        *,
        check: Callable[[Path], str] | None = None,
        check_every: int = 500,
    ) -> None:
        self.session, self._loop = loop.session, loop
        self._diagnose, self._check, self._check_every = diagnose, check, check_every
        self.why_stop = ""

    def __enter__(self) -> Watch[Diagnosis]:
        self._loop.begin(self._stepped)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._loop.end()
        if kind is KeyboardInterrupt:
            self.session.event("stopped", "interrupted from the keyboard")
        elif kind is not None and issubclass(kind, Exception):
            memory = error is not None and ran_out_of_memory(error)
            self.session.event("out-of-memory" if memory else "crash", f"{kind.__name__}: {error}")
        self.session.close()

    def log(self, loss: Any = None, **metrics: Any) -> None:
        """Record what hooks cannot see: the training loss of this micro-batch, and any metric (names that
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
        """Report a batch. Without it, the model's inputs are seen, but no targets."""
        self.session.batch(inputs, targets)

    def step(self, state: Any) -> None:
        """JAX: a step was made; `state` is the optimizer's state after it. Raises ConfigError for other
        frameworks, whose steps are observed."""
        self._loop.step(state)

    @property
    def callback(self) -> Any:
        """Keras: the callback to pass to `fit(callbacks=[...])`. Raises ConfigError for other frameworks."""
        return self._loop.callback

    def loader(self, batches: Iterable[Batch]) -> Iterator[Batch]:
        """The same batches; the wait for each one is timed."""
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

    def _stepped(self) -> None:
        """The session has recorded another step."""
        if self._check is not None and self.session.step % self._check_every == 0:
            self.session.flush()
            self.why_stop = self._check(self.session.folder)
