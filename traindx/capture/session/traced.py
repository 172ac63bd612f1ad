"""The steps of a loop, as the host is told them out of a compiled step, on their way to a session: of optax's, of
Keras's own optimizers."""

from __future__ import annotations

import ctypes
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import FrameType
from typing import Any, NamedTuple

import numpy as np

from traindx.capture.arrays import activations as act
from traindx.capture.arrays.answers import answers
from traindx.capture.arrays.data import Array
from traindx.capture.session.backend import Updates, View
from traindx.capture.session.layout import Part
from traindx.capture.session.leaves import Leaf, architecture, gains
from traindx.capture.session.session import Session
from traindx.capture.session.stream import Stream
from traindx.capture.session.told import HostObserver, ToldBackend
from traindx.vocabulary.setup import Fact

# Of each leaf: norm and zeros of the gradient, norm of the update, norm and largest value of the weights; and of the
# part of the weights that the update was seen in, its norm and the share that stayed as it was.
READINGS, ROWS = 5, 7
RANK_EVERY = 4  # sampled steps between effective ranks


class Answer(NamedTuple):
    """What a loss function was given: its name, outputs, targets, and the loss of each sample."""

    name: str
    outputs: Array
    targets: Array
    losses: Array


class StopTraining(SystemExit):
    """Raised in the script's main thread after the last step that was asked for."""


def counted(stream: Stream, step: int) -> None:
    """A step was told in a callback, where nothing may be raised: the main thread is told when it is the last."""
    try:
        stream.after_step(step)
    except SystemExit:
        if threading.current_thread() is threading.main_thread():
            stop_at_next_line()
            return
        main = ctypes.c_ulong(threading.main_thread().ident or 0)
        ctypes.pythonapi.PyThreadState_SetAsyncExc(main, ctypes.py_object(StopTraining))


def stop_at_next_line(libraries: Sequence[str] = ("jax", "optax", "sitecustomize", "traindx")) -> None:
    """Small steps call back in the thread that runs the script. Raised at once, the end would be XLA's to report, as an
    error of the step; as a debugger does, it is raised at the next line of the script. At its exit
    (`sitecustomize`) there is none."""
    frame: FrameType | None = sys._getframe()
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] in libraries:
        frame = frame.f_back

    def stop(_frame: FrameType, _event: str, _argument: object) -> None:
        sys.settrace(None)
        raise StopTraining

    if frame is not None:
        frame.f_trace = stop
        sys.settrace(lambda *_: None)


@dataclass(frozen=True)
class Hearing:
    """What the host does with values that it is told. Equal for equal hooks, so that nothing is compiled anew."""

    stream: Stream
    hook: Callable[..., None]
    about: tuple[Any, ...]

    def __call__(self, *values: Any) -> None:
        if not self.stream.active:
            return
        try:
            self.hook(*self.about, *values)
        except Exception as error:  # noqa: BLE001 - raised in a callback it would be an error of the training
            self.stream.failed(self.hook.__name__, error)


class TracedObserver(HostObserver):
    """Activations, outputs and batches that were told since the last step."""

    def __init__(self, view: View) -> None:
        super().__init__(view, lambda found: found)
        self.heard: dict[str, tuple[act.Kind, Array]] = {}
        self.answer: Answer | None = None
        self._units: dict[str, act.Units] = {}
        self._turn = 0

    def batch(self, inputs: Any, targets: Any, training: bool | None, told: bool, *whose: Any) -> None:
        self.data.look(inputs, targets, bool(training), self._view.sampling, *whose)
        if training and inputs is not None:
            self._view.habits.samples += len(inputs)

    def finish(self) -> None:
        began = time.perf_counter()
        self._turn += 1
        readings = {name: self._reading(name, kind, values) for name, (kind, values) in self.heard.items()}
        if readings and self._view.wants("activations"):
            values = np.array([v for reading in readings.values() for v in reading])
            self._view.vectors.append(("activations", list(readings), values))
        if self.answer is not None and np.isfinite(self.answer.outputs).all():
            self.data.outputs(self.answer.outputs)
            self._view.scalars.update(answers(self.answer.outputs, self.answer.targets, self.data))
        self.seconds += time.perf_counter() - began

    def _reading(self, name: str, kind: act.Kind, values: Array) -> list[float]:
        rows = act.rows_of(values, self._turn)
        part = act.rank_part(values) if self._turn % RANK_EVERY == 1 else None
        silent = float("nan")
        if kind == "rectifier":
            units = self._units.setdefault(name, act.Units())
            units.add(act.by_unit(np.moveaxis(rows, -1, 1) if rows.ndim > 3 else rows, False), len(rows))
            silent = float(units.silent())
        part = None if part is None else np.asarray(part, np.float32)
        return [*act.measured(np.ascontiguousarray(rows, np.float32), kind, None, part), silent]


class TracedBackend(ToldBackend):
    """Leaves; `held[ROWS, p]` of the step that was just told, NaN where nothing was read."""

    libraries = ("jax", "flax", "optax", "keras", "tensorflow", "torch")

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name
        self.held: Array = np.zeros((ROWS, 0))
        self.seen: TracedObserver | None = None
        self.optimizer: dict[str, Fact] = {}
        self.frozen: set[int] | None = None  # places of the leaves that were left out at every step

    @property
    def left_out(self) -> Array:
        """Which leaves this step's transformation leaves as they are though they have a gradient and others move, as
        masks and `set_to_zero` do: they are frozen."""
        _, zeros, change = self.held[:3]
        return np.asarray((zeros < 1) & (change == 0) & bool((change > 0).any()))

    def trainable(self, parameter: Leaf) -> bool:
        place = next((i for i, leaf in enumerate(self.trained) if leaf is parameter), None)
        return place is None or not self.frozen or place not in self.frozen

    def parts(self, model: Sequence[Leaf], prefix: str) -> Sequence[Part] | None:
        return [Part(leaf, leaf.name, leaf.owner) for leaf in model]

    def architecture(self, model: Sequence[Leaf]) -> dict[str, Fact]:
        return architecture(model)

    def size(self, parameter: Leaf) -> int:
        return parameter.size

    def optimizer_facts(self, optimizer: Any) -> dict[str, Fact]:
        return self.optimizer

    def gradient_squares(self, parameters: Sequence[Leaf], elsewhere: bool) -> list[float]:
        return list(np.square(self.held[0]).tolist())

    def updates(self, elsewhere: bool) -> Updates:
        return ToldUpdates(self)

    def read(self, kind: str, parameters: Sequence[Leaf], elsewhere: bool) -> Any:
        known = kind == "weights" and np.isfinite(self.held[3]).any()
        return np.concatenate([self.held[3], self.held[4]]) if known else None

    def observers(self, view: View) -> Sequence[object]:
        self.seen = TracedObserver(view)
        return [self.seen]


class ToldUpdates:
    """`Updates` that were computed within the step."""

    number_format = ""

    def __init__(self, backend: TracedBackend) -> None:
        self._backend, self.turn = backend, 0

    def begin(self, parameters: Sequence[Leaf]) -> Array:
        self.turn += 1
        return np.where(self._backend.left_out, np.nan, self._backend.held[1])

    def end(self, count: int) -> Array:
        return self._backend.held[[2, 5, 6]].reshape(-1)


def completed(held: Array) -> Array:
    """`[ROWS, p]` of what a step tells of whole leaves; those that are not finite as in `arrays/windows.changed`."""
    known = ~np.isnan(held[3]).all()
    whole = np.isfinite(held[2]) & (np.isfinite(held[3]) | ~known)
    change, size = (np.where(whole, row, np.inf) for row in held[2:4])
    unchanged = np.where(whole, held[2] == 0, np.nan)
    return np.stack([*held[:2], change, *held[3:], size, unchanged])


class Steps:
    """What comes from the host's callbacks, in whatever thread: paired and handed to the session in order. Losses of a
    step may arrive after it, so a step waits until the next one comes. What is kept is copied: an array that is told
    ends with the call."""

    def __init__(self, session: Session, backend: TracedBackend, stepped: Callable[[int], None]) -> None:
        self.session, self._backend, self._stepped = session, backend, stepped
        self._lock = threading.Lock()
        self._losses: deque[tuple[float, list[Array]]] = deque(maxlen=4096)
        self._steps: deque[Array] = deque()
        self._told = {"losses": 0, "steps": 0, "rates": 0}
        self._each = {"losses": 1, "rates": 1}  # a step
        self._finished = 0  # steps that the session was told
        self._held: list[tuple[int, Answer]] = []  # of evaluations, with the steps told before
        self._targets = False  # batches hold their targets
        self._weights: Array | None = None
        self._rates: deque[float] = deque(maxlen=4096)

    def rated(self, rate: float) -> None:
        """A schedule was asked for the rate of a step."""
        with self._lock:
            self._rates.append(rate)
            self._told["rates"] += 1

    def loss(self, value: Any, *batch: Any) -> None:
        """A loss that was differentiated, and the arrays of its batch."""
        with self._lock:
            self._losses.append((float(np.mean(value)), [np.array(part) for part in batch]))
            self._told["losses"] += 1
            self._targets = self._targets or len(batch) > 1

    def activation(self, name: str, kind: act.Kind, values: Any) -> None:
        if self.session.sampling and self._backend.seen is not None:
            with self._lock:
                self._backend.seen.heard[name] = kind, np.array(values)

    def answered(self, name: str, training: bool, outputs: Any, targets: Any, losses: Any) -> None:
        """A loss function of optax was called."""
        if training and self._targets and not self.session.sampling:
            return
        found = Answer(name, np.array(outputs), np.array(targets), np.array(losses))
        with self._lock:
            if not training:
                if self._told["steps"]:
                    self._held.append((self._told["steps"], found))
                    self._held = self._held[-1024:]
                    self.session.clock.interrupted = True
                return
            if self._backend.seen is not None:
                self._backend.seen.answer = found
            if not self._targets:
                self.session.batch(None, found.targets, training=True)

    def weights(self, values: Any) -> None:
        """`[2, p]`, norms and largest values, of weights that the optimizer was not given."""
        self._weights = np.array(values, np.float64)

    def step(self, readings: Any) -> None:
        """`[READINGS, p]` of an update."""
        self.comes()
        self.add(np.array(readings, np.float64))

    def comes(self) -> None:
        """Another step is told: those before it are over."""
        with self._lock:
            while self._steps:
                self._finish()

    def add(self, held: Array) -> None:
        """`[ROWS, p]`, or what a step tells."""
        with self._lock:
            self._steps.append(held)
            self._told["steps"] += 1
            self._each = {of: max(1, round(self._told[of] / self._told["steps"])) for of in self._each}

    def end(self) -> None:
        with self._lock:
            while self._steps:
                self._finish()

    def _finish(self) -> None:
        """Tell the session the oldest step that waits."""
        held = self._steps.popleft()
        if self._weights is not None and not np.isfinite(held[3:5]).any():
            held[3:5] = self._weights
        held = completed(held) if len(held) == READINGS else held
        for _ in range(self._each["losses"]):
            if self._losses:
                value, batch = self._losses.popleft()
                if batch:
                    self.session.batch(batch[0], batch[1] if len(batch) > 1 else None, training=True)
                self.session.loss(value)
        if not self.session.step:
            for fact, told in gains(self._backend.trained, held[3].tolist()).items():
                self.session.fact(fact, told)
        self._backend.held = held
        if np.isfinite(held[1:3]).any(1).all():
            out = set(np.flatnonzero(self._backend.left_out).tolist())
            self._backend.frozen = out if self._backend.frozen is None else self._backend.frozen & out
        for _ in range(self._each["rates"]):
            if self._rates:
                self._backend.rate = self._rates.popleft()
        self.session.optimizer_step_begin(self._backend, timed=False)
        self.session.optimizer_step_end(self._backend)
        self._finished += 1
        if self._held and self._held[0][0] <= self._finished:
            self._validated()
        self._stepped(self.session.step)

    def _validated(self) -> None:
        """The evaluations after the step that was just finished, in whose time they were."""
        held = [answer for after, answer in self._held if after <= self._finished]
        self._held = self._held[len(held) :]
        self.session.validation("loss", float(np.concatenate([a.losses.reshape(-1) for a in held]).mean()))
        self.session.clock.interrupted = False
        for answer in held:
            self.session.batch(None, answer.targets, training=False)
