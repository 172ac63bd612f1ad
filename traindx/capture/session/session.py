"""One recorded training: what a launcher or a loop reports, and what is measured of it."""

import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from traindx.capture.process.guard import FROM_HERE, error_line, guard_method, say
from traindx.capture.process.patches import reference
from traindx.capture.process.ranks import processes_of_run
from traindx.capture.session.backend import Backend
from traindx.capture.session.clock import live_clock
from traindx.capture.session.facts import facts_of, script, signal_name, versions
from traindx.capture.session.habits import Habits
from traindx.capture.session.losses import Losses
from traindx.capture.session.pace import BUDGET as BUDGET_TIME, Pace
from traindx.capture.session.steps import Queue, Row, Steps
from traindx.capture.session.watched import Watched
from traindx.capture.store.recorder import Recorder
from traindx.vocabulary import ENDINGS, Event, EventKind, Fact

BUDGET = 64 << 20  # bytes of a run on disk
UNSTEPPED = 256  # backward passes without an optimizer step, after which they are counted instead
FACTS_EVERY = 30.0  # seconds between versions of setup.json, after those of the first steps


class Session:
    """Measures a training whose parts are reported to it, and writes the native store to `out`.

    No method raises, draws a random number, keeps a graph alive or changes an order of operations. A failure
    inside is reported once on stderr and as an event, and the recording goes on without what failed. Only if
    the record cannot be written, the session gives up (`active` is False).

    `every`: measure modules on every n-th step; None adapts to the cost. `budget`: bytes on disk.
    `curvature`: the Hessian's extreme eigenvalues on some sampled steps, for a sixth of the time. `rank`: of
    this process in a distributed run. `updates`: False takes no copies of weights, so update ratios are
    missing. `overhead`: the share of the run's time that capture may take. `out=None` keeps the store in a
    temporary folder (`folder`) until the session is freed."""

    def __init__(
        self, out: Path | None, backend: Backend, *, every: int | None = None, budget: int = BUDGET,
        curvature: bool = False, rank: int = 0, updates: bool = True, patient: bool = False,
        overhead: float = BUDGET_TIME,
    ) -> None:  # fmt: skip
        self._temporary = tempfile.TemporaryDirectory(prefix="traindx-") if out is None else None
        self.folder = Path(self._temporary.name) if self._temporary else Path(out or ".")
        self.active, self.backend = True, backend
        self.step = 0  # optimizer steps done
        self.recorder = Recorder(self.folder, budget=budget, rank=rank)
        self.clock, self.habits, self.pace = live_clock(backend.apart), Habits(), Pace(every, overhead)
        self._dropped: set[str] = set()  # what failed once, and was said
        self.watched = Watched(
            backend, self.clock, self.habits, self.leave_out, self._tell, self.pace,
            updates=updates, patient=patient, curvature=curvature,
        )  # fmt: skip
        self.steps = Steps(self.recorder, self.pace, self.watched.panels, self.note)
        self._queue = Queue(self.steps.take, backend.fetch, self.leave_out)
        self._facts: dict[str, Fact] = {"world_size": processes_of_run()} if processes_of_run() > 1 else {}
        self._losses = Losses()
        self._early: list[Row] = []
        self._primary: Callable[[], Any] | None = None
        self._scaler: Callable[[], Any] = lambda: None
        self._skipped, self.over = 0, False  # over: the optimizer that counts the steps is gone
        self._by_backward = self._begins = False  # steps are backward passes; their begin is reported
        self._facts_due, self._own, self._ended_by = 0.0, 0.0, ""
        self.wants_losses = True  # `before_backward` has still something to look for
        self._losing = False  # the loss is differentiated by capture itself
        self.sampling = self.phases = True  # the coming step is sampled; is timed by its phases

    # What is trained.
    @guard_method
    def add_model(self, model: Any, name: str = "") -> None:
        """A root module; one that is known is ignored. `name` is put before its modules' names."""
        self.watched.add_model(model, name)

    @guard_method
    def called(self, part: Any) -> None:
        """The loop calls `part` of a model. Forward passes are measured there if it has all trained parameters."""
        for listener in self.watched.observers.models:
            listener.add_part(part)

    @guard_method
    def add_optimizer(self, optimizer: Any) -> None:
        """An optimizer; one that is known is ignored. The first that steps counts the steps."""
        if self.watched.add_optimizer(optimizer) and len(self.watched.optimizers) == 1:
            self._facts.update(self.backend.optimizer_facts(optimizer))

    @guard_method
    def add_scaler(self, scaler: Any) -> None:
        """A GradScaler: its scale is recorded with each step."""
        self._scaler = reference(scaler)

    # What happens in a step, in the order of the loop. All are optional.
    @guard_method
    def data_wait(self, seconds: float) -> None:
        """Time that the loop waited for a batch (summed over the micro-batches of a step)."""
        self.clock.add("data", seconds)

    @guard_method
    def batch(
        self, inputs: Any, targets: Any = None, *, training: bool | None = None, source: object = None,
        trained: bool = False,
    ) -> None:  # fmt: skip
        """The tensors (or nested lists, tuples and dicts of them) of a batch that passes by. `training`:
        None takes whether gradients are enabled. May be reported in two parts (inputs when the model is
        called, `batch(None, targets)` when the loss is). `source` marks the data set it is of, `trained`
        that this one is trained on."""
        for listener in self.watched.observers.batches:
            listener.batch(inputs, targets, training, True, source, trained)

    @guard_method
    def outputs(self, output: Any, loss_name: str = "", classes_second: bool = False) -> None:
        """What a training loss is computed from (its first argument), and the loss function. `classes_second`:
        classes are its second dimension, as in PyTorch's losses of classes, and not its last."""
        if loss_name:
            self._facts.setdefault("loss", loss_name)
            self._facts.setdefault("loss_name", loss_name)
        for listener in self.watched.observers.losses:
            listener.outputs(output, classes_second)

    @guard_method
    def loss(self, value: Any, *, where: str = "") -> None:
        """The training loss of the current micro-batch (any tensor with one element). Several a step with
        the same `where` are averaged; another `where` (file:line) is another loss."""
        found = self.backend.number(value)
        if found is None:
            return
        self._losses.add(found, where, self.habits.inside_step)
        if isinstance(found, float) and found - found != 0 and "train/loss" not in self.steps.first_bad:
            for listener in self.watched.observers.losses:
                listener.nonfinite_loss(value)

    @guard_method
    def before_backward(self, loss: Any, factor: float = 1.0) -> None:
        """A loss, before its backward pass; `factor` undoes what it was divided by. Skipped without a graph."""
        listeners = self.watched.observers.losses
        self._losing = True
        try:
            found = [listener.before_backward(loss, factor, self.step) for listener in listeners]
        finally:
            self._losing = False
        self.wants_losses = any(listener.wants_losses for listener in listeners)
        for signals in found:
            self._write(signals)

    @guard_method
    def backward_begin(self, stale: bool | None = None) -> None:
        """A backward pass begins. `stale`: gradients of the last step are still there; None: find out."""
        watched = self.watched
        if self._by_backward and self.sampling:
            watched.step_end(None)
        self._begins = True
        first = not self.habits.backwards
        self.habits.backward(watched.stale() if stale is None and first else stale)
        for listener in watched.observers.steps:
            listener.backward_begin()
        self.clock.begin("backward")

    @guard_method
    def backward_seen(self, stale: bool) -> None:
        """A backward pass is under way, whose begin and end cannot be seen. Not needed while `phases` is False."""
        if not self._losing:
            self.habits.backward(stale)

    @guard_method
    def backward_end(self) -> None:
        """The backward pass is over (also when it raised)."""
        self.clock.end("backward")
        if self._by_backward:
            self._finish_step(None)
        elif self._primary is None:
            self._early.append(Row(len(self._early) + 1, time.time(), self._losses.latest()))
            if len(self._early) > UNSTEPPED:
                self._count_backward_passes()

    @guard_method
    def clip(self, norm: Any, threshold: float) -> None:
        """Gradients were clipped: `norm` is the global norm before, `threshold` the one allowed."""
        self._facts["clip_norm"] = float(threshold)
        # Where only `backward_seen` is called, it is not for every pass.
        counted = self._begins or self.phases
        used = self.habits.total_backwards and not self.habits.backwards  # the gradients were, in a step
        if counted and used:
            self._facts["clip_after_step"] = int(self._facts.get("clip_after_step", 0)) + 1
        else:
            self.watched.clipped(norm, float(threshold))

    def count_by(self, optimizer: Any) -> None:
        """The steps of this optimizer are counted, as long as it lives."""
        self._primary, self._early = reference(optimizer, lambda _: setattr(self, "over", True)), []
        self.over = False

    @guard_method
    def optimizer_step_begin(self, optimizer: Any, timed: bool = True) -> None:
        """An optimizer is about to use the gradients. Not `timed`: the step was made before its report."""
        if self._primary is None:
            self.count_by(optimizer)
        self.watched.step_begin(optimizer, self.sampling)
        self.habits.inside_step = True
        if timed:
            self.clock.begin("optimizer")

    @guard_method
    def optimizer_step_end(self, optimizer: Any) -> None:
        """The optimizer has changed its parameters; the first optimizer's step ends the step."""
        self.clock.end("optimizer")
        self.habits.inside_step = False
        if self.sampling:
            self.watched.step_end(optimizer)
        self.watched.stepped(optimizer)
        if self._primary is not None and optimizer is self._primary() and not self._by_backward:
            self._finish_step(optimizer)

    @guard_method
    def zero_grad(self, optimizer: Any = None) -> None:
        """Gradients are being zeroed. With a scaler, unused ones mean that the step was skipped."""
        self.watched.zeroed()
        self.habits.zeroed = self.habits.backwards > 0
        if self._scaler() is not None and self.habits.backwards:
            self.skipped()

    @guard_method
    def skipped(self) -> None:
        """A step was left out (a loss scale overflowed)."""
        self._skipped += 1
        self.habits.abandon()
        self._losses.forget()
        self.watched.abandon()
        self.note("skipped-step", "the optimizer step was skipped", "loss-scale")

    # Other numbers and facts.
    @guard_method
    def validation(self, name: str, value: Any) -> None:
        """A value on held-out data: recorded as `val/<name>` at the current step."""
        self._aside(signal_name(name, "val/"), value)

    @guard_method
    def metric(self, name: str, value: Any) -> None:
        """A value on training data: `train/<name>`, or as it is if it has a `/` or is a canonical signal."""
        self._aside(signal_name(name, "train/"), value)

    @guard_method
    def record_round(self, step: int, values: Mapping[str, float]) -> None:
        """A round of boosting, of which only signals and their values are known."""
        self.step, self._by_backward = step, True
        self._queue.add(Row(step, time.time(), {**values, **self.clock.lap()}), device=False)

    def _aside(self, name: str, value: Any) -> None:
        found = self.backend.number(value)
        if found is not None:
            self.clock.interrupted = self.clock.interrupted or name.startswith("val/")
            self._write({name: found})

    def _write(self, signals: Mapping[str, Any]) -> None:
        """Write signals at the current step, next to those of its row."""
        if signals:
            self._queue.add(Row(self.step, time.time(), dict(signals), sampled=True), device=True)

    @guard_method
    def fact(self, name: str, value: Fact, origin: str = "capture") -> None:
        """A setup fact; the last value of a name counts."""
        self._facts[name] = value
        if origin != "capture":
            self._facts[f"{name}_from"] = origin

    @guard_method
    def event(self, kind: EventKind, message: str, code: str = "", *, place: str = "") -> None:
        """An event at the current step. A `crash`, `out-of-memory` or `stopped` also dumps the flight recorder."""
        self.note(kind, message, code, place=place)

    def note(
        self, kind: EventKind, message: str, code: str = "", *, place: str = "", step: float | None = None,
    ) -> None:  # fmt: skip
        """An event at a step (None: the current one)."""
        if kind in ENDINGS or code == "capture-failed":
            self._ended_by = kind
            self._queue.fetch()
        self.steps.note(Event(kind, message, self.step if step is None else step, place, code), time.time())

    @guard_method
    def flush(self) -> None:
        """Write what was measured so far (an unflushed tail is lost by kill -9)."""
        self._queue.fetch()
        self._write_setup()
        self.recorder.flush()

    def close(self) -> None:
        """Release the model and the optimizers, write everything, close the files. Idempotent."""
        if self.active:
            self._close()
        self.active = False

    @guard_method
    def _close(self) -> None:
        if self._primary is None and not self._by_backward:
            self._count_backward_passes()
        for source in self.watched.observers.final_sources:
            self._write(source.final_signals())
        self._queue.fetch()
        self.watched.release()
        self._write_setup()
        self.steps.dump(float("inf"))
        if not self._ended_by:
            self.note("note", "the training was recorded to its end", "ended")
        self.recorder.close()
        self.clock.close()

    def leave_out(self, what: str, error: Exception, how: str = FROM_HERE) -> None:
        """Something could not be measured: say so once. The rest goes on."""
        if what in self._dropped or not self.active:
            return
        self._dropped.add(what)
        message = f"{what}: {how.format(self.step + 1)} ({error_line(error)}); the recording goes on"
        self.note("note", message, "signal-dropped")
        say(message)

    def failed(self, where: str, error: Exception) -> None:
        """The record cannot be written: say so once, and release everything."""
        if not self.active:
            return
        self.active = False
        message = f"capture stopped: {where} failed ({type(error).__name__}: {error}); the training goes on"
        say(message)
        for listener in self.watched.observers.steps:  # the model is not called any more
            listener.abandon()
        self.watched.release()
        rest = ("the last steps before it", self._queue.fetch), ("its setup", self._write_setup)
        for what, write in rest:
            try:
                write()
            except Exception as second:  # noqa: BLE001 - as above; the failure may well be in there
                say(f"{what} could not be written ({type(second).__name__}: {second})")
        self.steps.note(Event("note", message, self.step, "", "capture-failed"), time.time())
        self.recorder.close()

    def _tell(self, code: str, message: str, aloud: bool = True) -> None:
        """Write a note to the store; `aloud`: tell the user at once, on stderr."""
        self.note("note", message, code)
        if aloud:
            say(message)

    @property
    def wants_outputs(self) -> bool:
        """Whether `outputs` and targets of batches are still worth reporting."""
        return self.active and any(listener.wants_outputs for listener in self.watched.observers.losses)

    def _count_backward_passes(self) -> None:
        """No optimizer steps: backward passes are the steps, those so far included."""
        for row in self._early:
            self.step = row.step
            self._queue.add(row, device=self.watched.device)
        self._facts["steps_counted_by"] = "backward"
        self._early, self._by_backward = [], True
        self._losses.forget()

    def _finish_step(self, optimizer: Any) -> None:
        """One step is over: its row goes on its way, and the next one is prepared."""
        self.step += 1
        watched, sampled = self.watched, self.sampling
        cost = watched.finish(optimizer, sampled)
        scalars = {**self._losses.means(), **watched.take_scalars(), **self.clock.lap()}
        samples = self.habits.step() if optimizer is not None else 0.0
        if samples and scalars.get("time/step"):
            scalars["throughput"] = samples / scalars["time/step"]
        self.clock.memory(self.backend.device_memory if watched.device else None, scalars)
        scaler = self._scaler()
        if scaler is not None:
            scalars["skipped_steps"] = float(self._skipped)
            scale = self.backend.scale_of(scaler)
            if scale is not None:
                scalars["loss_scale"] = scale
        self.pace.stepped(self.step, scalars.get("time/step") or self.clock.seconds_timed)
        scalars = self.clock.shown(scalars)
        if not sampled:
            less = self.pace.spent(self.step, self.clock.own - self._own)
            if less:
                self.note("note", f"{less}: capture takes its budget", "over-budget")
        self._own = self.clock.own
        row = Row(self.step, time.time(), scalars, watched.measures.take(), sampled)
        self._queue.add(row, device=watched.device, urgent=self.steps.urgent(scalars))
        if sampled:
            self.pace.measured(self.step, cost + self.steps.seconds)
            self.steps.seconds = 0.0
        self.sampling = self.active and self.pace.sampled(self.step)
        self.phases = self.pace.phases(self.step)
        watched.sample(self.sampling, self.phases)
        if self.sampling and not self.wants_losses:
            self.wants_losses = any(listener.wants_losses for listener in watched.observers.losses)
        if self._facts_due <= row.at or self.step in (1, 10, 100):
            self._write_setup()

    def _write_setup(self) -> None:
        """Replace setup.json by what is known now."""
        self._facts_due = time.time() + FACTS_EVERY
        facts = facts_of(self.watched, self._facts, self.habits, self.clock, self.pace, self.steps)
        about = {"script": script(), "versions": versions(self.backend.libraries)}
        self.recorder.setup({"framework": self.backend.name, **about, "facts": facts})
