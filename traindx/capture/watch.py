"""`traindx.watch`: record the loop that is running. The framework is that of the model and optimizer."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Container, Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from traindx.capture.framework import frameworks
from traindx.capture.process.guard import ran_out_of_memory
from traindx.capture.session.loop import Loop
from traindx.errors import ConfigError

if TYPE_CHECKING:
    from traindx.vocabulary.diagnosis import RunDiagnosis

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


def new_findings(run: RunDiagnosis, known: Container[str]) -> list[tuple[str, str]]:
    """The findings of a diagnosis that are not `known` yet: each slug, with the sentence to print."""
    return [
        (f.slug, f"step {f.onset_step or 0:.0f}: {f.message}") for f in run.findings if f.slug not in known
    ]


def why_stop(run: RunDiagnosis) -> str:
    """The sentence to end a training with; "" where it should go on."""
    return f"stopped: {run.decision.reason}" if run.decision.action == "stop" else ""


class Watch(Generic[Diagnosis]):
    """A session over a loop in this process. A context manager: hooks are there from entering to leaving.
    `diagnose` is what turns a store into a diagnosis; `on_finding` is called with one every `check_every`
    steps, when it has findings that the last one had not."""

    def __init__(
        self,
        loop: Loop,
        diagnose: Callable[[Path], Diagnosis],
        *,
        on_finding: Callable[[Diagnosis], None] | None = None,
        check_every: int = 500,
    ) -> None:
        self.session, self._loop = loop.session, loop
        self._diagnose, self._on_finding, self._check_every = diagnose, on_finding, check_every
        self._known: set[str] = set()

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
        """A batch (without it the model's inputs are seen, but no targets)."""
        self.session.batch(inputs, targets)

    def step(self, state: Any) -> None:
        """JAX: a step was made, and `state` is the optimizer's after it. Raises ConfigError for other
        frameworks, whose steps are observed."""
        self._loop.step(state)

    @property
    def callback(self) -> Any:
        """Keras: what `fit(callbacks=[...])` is to be given. Raises ConfigError for other frameworks."""
        return self._loop.callback

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

    def _stepped(self) -> None:
        """The session has recorded another step."""
        if self._on_finding is not None and self.session.step % self._check_every == 0:
            self._check(self._on_finding)

    def _check(self, on_finding: Callable[[Diagnosis], None]) -> None:
        diagnosis = self.diagnose()
        slugs = {f.slug for run in diagnosis.document.runs for f in run.findings}  # type: ignore[attr-defined]
        if slugs - self._known:
            on_finding(diagnosis)
        self._known = slugs
