"""Models and optimizers of a session: what is measured of them in a step, in the words of any framework."""

import time
from collections.abc import Callable
from typing import Any

from traindx.capture.session.backend import Backend, Failed, Tell
from traindx.capture.session.clock import Clock
from traindx.capture.session.habits import Habits
from traindx.capture.session.layout import Gone, Layout
from traindx.capture.session.measures import Measures
from traindx.capture.session.noise import NoiseScale
from traindx.capture.session.observers import Observers
from traindx.capture.session.pace import Pace
from traindx.vocabulary import Fact

SMALLEST = 3  # parameters in which gradients left over from the last step are looked for
TINY = 1e-6  # added to a norm that is divided by, as the frameworks do when they clip


class Watched:
    """Asks the backend for measurements at the right moments of a step. Observers see the session through this
    class, and may use what has no underscore."""

    def __init__(
        self, backend: Backend, clock: Clock, habits: Habits, dropped: Failed, tell: Tell, pace: Pace, *,
        updates: bool, patient: bool, curvature: bool,
    ) -> None:  # fmt: skip
        self.backend, self.clock, self.habits = backend, clock, habits
        self._tell_dropped, self.tell, self.pace = dropped, tell, pace
        self._refused: set[str] = set()  # what has failed, and is tried no more
        self.updates = updates  # weights may be copied
        self.patient = patient  # every batch is read, however long that takes
        self.curvature = curvature  # the Hessian's extreme eigenvalues are wanted on some sampled steps
        self.measures = Measures(backend, self._let_go)
        self.scalars: dict[str, Any] = {}  # signals of the step
        self.facts_seen: dict[str, Fact] = {}
        self.sampling = True
        self.forward_end: float | None = None  # when the last forward pass was over, by the clock
        self._clip: tuple[Any, float] | None = None
        self._zeroed = False
        self._small: list[int] = []  # places of the smallest parameters
        self._noise, self._first_norm = NoiseScale(), 0.0
        self._seconds = 0.0  # that observers have spent on readings, up to the last step
        self.observers = Observers(backend.observers(self))

    def attempt(self, what: str, measure: Callable[..., Any], *given: Any) -> Any:
        """What `measure(*given)` gives; None once it has failed, which drops what is measured, and nothing
        else."""
        if what in self._refused:
            return None
        try:
            return measure(*given)
        except Exception as error:  # noqa: BLE001 - one signal is dropped, and said
            self.dropped(what, error)
            return None

    def dropped(self, what: str, error: Exception) -> None:
        """Something cannot be measured from here on; the rest can."""
        self._refused.add(what)
        self._tell_dropped(what, error)

    @property
    def optimizers(self) -> list[Any]:
        return self.measures.optimizers

    @property
    def layout(self) -> Layout:
        return self.measures.layout

    @property
    def vectors(self) -> list[tuple[str, Any, Any]]:
        return self.measures.vectors

    @property
    def device(self) -> bool:
        """Whether readings stay on an accelerator until they are fetched."""
        return self.measures.device

    def own_parameters(self, optimizer: Any) -> list[Any]:
        """Those in an optimizer's groups; of a loop without one, all."""
        plan = self.measures.plan(optimizer)
        return plan.parameters[: plan.own]

    def all_parameters(self, optimizer: Any) -> list[Any]:
        """With those, the ones that an optimizer answers for because no other does."""
        return self.measures.plan(optimizer).parameters

    def gradients_read(self) -> Any:
        """What was read of the gradients last: norms, or on the host their squares."""
        return self.measures.gathered[-1][1]

    def add_model(self, model: Any, name: str) -> None:
        parts = self.backend.parts(model, name)
        if parts is None:
            return
        self.layout.add(parts)
        for fact, value in self.backend.architecture(model).items():
            self.facts_seen.setdefault(fact, value)
        self._find_small()
        for listener in self.observers.models:
            listener.add_model(model, name)

    def add_optimizer(self, optimizer: Any) -> bool:
        """Whether it was not known before."""
        before = len(self.optimizers)
        self.measures.add_optimizer(optimizer)
        self._find_small()  # without a module, these are all parameters
        self._announce(optimizer)
        return len(self.optimizers) > before

    def _announce(self, optimizer: Any) -> None:
        for listener in self.observers.models:
            listener.add_optimizer(optimizer)

    def _find_small(self) -> None:
        places = [place for place, p in self.layout.alive() if self.backend.trainable(p)]
        self._small = sorted(places, key=self.layout.size)[:SMALLEST]

    def stale(self) -> bool | None:
        """Whether gradients of the step before are still there as a backward pass begins."""
        if self._zeroed or not self._small:
            return False if self._zeroed else None
        there = [p for p in (self.layout.parameters[place] for place in self._small) if type(p) is not Gone]
        return self.backend.stale(there, self.device)

    def first_micro_batch(self) -> None:
        """The model is called again before a step: the gradients there are of the first micro-batch."""
        wanted = self.sampling and self.habits.backwards == 1 and not self._first_norm
        first = self.optimizers[0] if wanted and self.optimizers and not self.device else None
        if first is not None:
            began = time.perf_counter()
            self._first_norm = self.measures.accumulated_norm(first)
            self.measures.seconds += time.perf_counter() - began

    def _noise_scale(self) -> None:
        total, self._first_norm, first = self.scalars.get("grad_norm"), 0.0, self._first_norm
        if first and isinstance(total, float):
            found = self._noise.add(first, total, self.habits.samples, self.habits.backwards)
            if found == found:
                self.scalars["grad_noise_scale"] = found

    def clipped(self, norm: Any, threshold: float) -> None:
        whole = self.backend.number(self.backend.reduce_over_processes(norm))
        self._clip = None if whole is None else (whole, threshold)

    def zeroed(self) -> None:
        self._zeroed = True

    def abandon(self) -> None:
        """The step was not made: what was measured for it is forgotten."""
        self._clip, self._first_norm = None, 0.0
        for listener in self.observers.steps:
            listener.abandon()
        self.measures.take()

    def step_begin(self, optimizer: Any, sampled: bool) -> None:
        if optimizer is not None:
            if id(optimizer) not in self.measures.held:
                self.add_optimizer(optimizer)
                self.facts_seen.setdefault("optimizers", len(self.optimizers))
            elif sampled:
                self._announce(optimizer)
            if self.forward_end is not None and self.habits.backwards <= 1:
                self.clock.guess("backward", self.clock.at() - self.forward_end)
            self.forward_end = None
        factor = self.attempt("gradients", self._gradients, optimizer) or 1.0
        if sampled and self.updates:
            self.attempt("updates of weights", self.measures.begin, optimizer)
        if optimizer is None or self.measures.is_first(optimizer):
            for listener in self.observers.steps:
                if sampled or listener.waiting:
                    listener.step_begins(optimizer, sampled, factor, self.scalars)

    def _gradients(self, optimizer: Any) -> float:
        """Norms of the gradients in use; before clipping, and without a loss scale. Returns the factor
        that undoes both."""
        scale = None if optimizer is None else self.backend.loss_scale(optimizer)
        factor = 1.0 if scale is None else 1.0 / scale
        ratio: Any = None
        if self._clip is not None:
            norm, threshold = self._clip
            self._clip = None
            ratio = self.backend.clip_at_one(threshold / (norm + TINY))
            if isinstance(ratio, float) and ratio > 0:
                factor /= ratio
        prefix = self._prefix(optimizer)
        due = self.pace.gradients(self.habits.steps)
        measured = due or any(listener.waiting for listener in self.observers.steps)
        found = self.measures.gradients(optimizer, factor) if measured else None
        if ratio is not None:
            self.scalars |= {f"{prefix}grad_norm": norm, f"{prefix}clip_ratio": ratio}
        elif measured:
            parts = (listener.local_norm(optimizer, factor) for listener in self.observers.steps)
            part = next((part for part in parts if part is not None), None)
            self.scalars[prefix + ("grad_norm" if part is None else "grad_norm_part")] = (
                found if part is None else part
            )
        return factor

    def _prefix(self, optimizer: Any) -> str:
        """The prefix of the signals of an optimizer; none of the first one's."""
        first = optimizer is None or self.measures.is_first(optimizer)
        return "" if first else f"optimizer/{self.optimizers.index(optimizer)}/"

    def wants(self, kind: str) -> bool:
        """Whether a family of signals is measured."""
        return self.pace.wants(kind)

    def step_end(self, optimizer: Any) -> None:
        if self.updates:
            self.attempt("updates and weights", self.measures.end, optimizer)

    def stepped(self, optimizer: Any) -> None:
        """Rates of an optimizer that has just stepped; its gradients are used up."""
        self._zeroed = False
        prefix = self._prefix(optimizer)
        for signal, rate in (
            self.attempt("learning rates", lambda: list(self.backend.rate_signals(optimizer))) or ()
        ):
            self.scalars[prefix + signal] = rate

    def finish(self, optimizer: Any, sampled: bool) -> float:
        """The step is over; returns the seconds that sampling it took."""
        if optimizer is None:
            self.step_begin(None, sampled)
        self._noise_scale()
        for listener in self.observers.samples if sampled else ():
            self.attempt("activations", listener.finish)
        cost, self.measures.seconds = self.measures.seconds, 0.0
        before, self._seconds = self._seconds, sum(listener.seconds for listener in self.observers.samples)
        return cost + self._seconds - before

    def sample(self, sampling: bool, phases: bool) -> None:
        """Whether the coming step is measured by module, and timed by its phases."""
        before, self.sampling = self.sampling, sampling
        for listener in self.observers.steps:
            listener.prepare(before, sampling, phases)

    def panels(self, kind: str, about: Any, values: Any) -> Any:
        """The signals in one reading."""
        return (
            self.attempt(f"signals of {kind}", lambda: list(self.measures.panels(kind, about, values))) or ()
        )

    def take_scalars(self) -> dict[str, Any]:
        out, self.scalars = self.scalars, {}
        return out

    def facts(self) -> dict[str, Fact]:
        """Everything that is known of models, optimizers and data so far."""
        moved = self.attempt("movement", self.measures.movement.facts, self.optimizers, self.measures.ever)
        measured = {**self.measures.facts(), **(moved or {})}
        observed = [source.facts() for source in self.observers.sources]
        return {
            **self.facts_seen,
            **measured,
            **{name: fact for facts in observed for name, fact in facts.items()},
        }

    def _let_go(self) -> None:
        """The script has let a model or an optimizer go: nothing of them is held for a later step."""
        if hasattr(self, "observers"):
            for listener in self.observers.models:
                listener.forget_freed()

    def release(self) -> None:
        """Take all hooks away."""
        for source in self.observers.sources:
            source.release()
