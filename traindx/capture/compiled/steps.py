"""Puts what compiled steps report into order, and hands it to a session."""

import threading
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np

from traindx.capture.arrays import activations as act
from traindx.capture.arrays.data import Array
from traindx.capture.compiled.backend import Answer, CompiledBackend
from traindx.capture.compiled.leaves import gains
from traindx.capture.session import Session

# What a step reports of each leaf: norm and zeros of the gradient, norm of the update, norm and largest
# value of the weights. `backend.ROWS` has two more: of the part of the weights in which the update was
# observed, its norm and the share that did not change.
READINGS = 5


def complete(readings: Array) -> Array:
    """`[ROWS, p]` from `[READINGS, p]`, which are of whole leaves; not finite as in
    `arrays/windows.changed`."""
    known = ~np.isnan(readings[3]).all()
    finite = np.isfinite(readings[2]) & (np.isfinite(readings[3]) | ~known)
    change, size = (np.where(finite, row, np.inf) for row in readings[2:4])
    unchanged = np.where(finite, readings[2] == 0, np.nan)
    return np.stack([*readings[:2], change, *readings[3:], size, unchanged])


class Steps:
    """What callbacks report, in whatever thread: paired, and handed to the session in order. Losses of a
    step may arrive after it, so a step waits until the next one comes. Arrays are copied where they are
    kept, because one that is reported ends with the call. `stepped` is called with the number of each
    step."""

    def __init__(self, session: Session, backend: CompiledBackend, stepped: Callable[[int], None]) -> None:
        self.session, self._backend, self._stepped = session, backend, stepped
        self._lock = threading.Lock()
        self._losses: deque[tuple[float, list[Array]]] = deque(maxlen=4096)
        self._waiting: deque[Array] = deque()
        self._covered: deque[int] = deque()  # of each that waits: the steps since the one before
        self._counts = {"losses": 0, "steps": 0, "rates": 0}
        self._per_step = {"losses": 1, "rates": 1}
        self._finished = 0  # steps that the session has
        self._evaluations: list[tuple[int, Answer]] = []  # with the number of steps reported before each
        self._targets_in_batches = False
        self._weights: Array | None = None
        self._rates: deque[float] = deque(maxlen=4096)

    def add_rate(self, rate: float) -> None:
        """A schedule was asked for the rate of a step."""
        with self._lock:
            self._rates.append(rate)
            self._counts["rates"] += 1

    def add_loss(self, value: Any, *batch: Any) -> None:
        """A loss that was differentiated, and the arrays of its batch."""
        with self._lock:
            loss = float(
                np.mean(value) if np.ndim(value) else value
            )  # a mean takes 7 us of the 65 of a step
            self._losses.append((loss, [np.array(part) for part in batch]))
            self._counts["losses"] += 1
            self._targets_in_batches = self._targets_in_batches or len(batch) > 1

    def add_activation(self, name: str, kind: act.Kind, values: Any) -> None:
        if self.session.sampling and self._backend.observer is not None:
            with self._lock:
                self._backend.observer.activations[name] = kind, np.array(values)

    def add_answer(self, name: str, training: bool, outputs: Any, targets: Any, losses: Any) -> None:
        """A loss function was called."""
        if training and self._targets_in_batches and not self.session.sampling:
            return
        answer = Answer(name, np.array(outputs), np.array(targets), np.array(losses))
        with self._lock:
            if not training:
                if self._counts["steps"]:
                    self._evaluations = [*self._evaluations, (self._counts["steps"], answer)][-1024:]
                    self.session.clock.interrupted = True
                return
            if self._backend.observer is not None:
                self._backend.observer.answer = answer
            if not self._targets_in_batches:
                self.session.batch(None, answer.targets, training=True)

    def add_weights(self, values: Any) -> None:
        """`[2, p]`, norms and largest values, of weights that the optimizer was not given."""
        self._weights = np.array(values, np.float64)

    def add_step(self, readings: Any, emits: Any = True) -> None:
        """`[READINGS, p]` of an update. One that does not change weights is part of a later step."""
        if emits:
            self.finish_steps()
            self.add_readings(np.array(readings, np.float64))

    def add_readings(self, readings: Array) -> None:
        """`[ROWS, p]` or `[READINGS, p]` of a step. They may be completed until the next one comes."""
        with self._lock:
            self._waiting.append(readings)
            self._covered.append(1)
            self._counts["steps"] += 1
            steps = self._counts["steps"]
            self._per_step = {what: max(1, round(self._counts[what] / steps)) for what in self._per_step}

    def covers(self, steps: int) -> None:
        """The step that was reported last represents this many steps: itself and those before it."""
        with self._lock:
            if self._covered:
                self._covered[-1] = steps

    def finish_steps(self) -> None:
        """Another step comes, or the training ends: hand all that wait to the session."""
        with self._lock:
            while self._waiting:
                passed = self._covered.popleft() - 1  # steps without a report
                self.session.step += passed
                self.session.clock.interrupted = self.session.clock.interrupted or passed > 0
                self._finish(self._waiting.popleft())

    def _finish(self, readings: Array) -> None:
        if self._weights is not None and not np.isfinite(readings[3:5]).any():
            readings[3:5] = self._weights
        readings = complete(readings) if len(readings) == READINGS else readings
        for _ in range(min(self._per_step["losses"], len(self._losses))):
            value, batch = self._losses.popleft()
            if batch:
                self.session.batch(batch[0], batch[1] if len(batch) > 1 else None, training=True)
            self.session.loss(value)
        if not self.session.step:
            for fact, gain in gains(self._backend.trained, readings[3].tolist()).items():
                self.session.fact(fact, gain)
        self._backend.readings = readings
        if np.isfinite(readings[1:3]).any(1).all():
            frozen = set(np.flatnonzero(self._backend.left_out).tolist())
            self._backend.frozen = frozen if self._backend.frozen is None else self._backend.frozen & frozen
        for _ in range(min(self._per_step["rates"], len(self._rates))):
            self._backend.rate = self._rates.popleft()
        self.session.optimizer_step_begin(self._backend, timed=False)
        self.session.optimizer_step_end(self._backend)
        self._finished += 1
        if self._evaluations and self._evaluations[0][0] <= self._finished:
            self._record_evaluations()
        self._stepped(self.session.step)

    def _record_evaluations(self) -> None:
        """Those after the step that was just finished, whose time includes theirs."""
        over = [answer for after, answer in self._evaluations if after <= self._finished]
        self._evaluations = self._evaluations[len(over) :]
        losses = np.concatenate([answer.losses.reshape(-1) for answer in over])
        self.session.validation("loss", float(losses.mean()))
        self.session.clock.interrupted = False
        for answer in over:
            self.session.batch(None, answer.targets, training=False)
