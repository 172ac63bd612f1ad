"""Keras in a script that `traindx run` started: `fit` and `train_on_batch` of any compiled model.

The model that a training ends with is kept as a file that Keras loads: what `fit` left, once it has ended."""

import contextlib
import hashlib
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import keras
from keras.src.models.model import Trainer

from traindx.capture.experiment.applies import requested_interventions
from traindx.capture.experiment.site import report_use
from traindx.capture.framework import as_list
from traindx.capture.keras.alternating_models import Turns, continues_weights
from traindx.capture.keras.backend import KerasBackend
from traindx.capture.keras.batches import Batches
from traindx.capture.keras.experiment import INTERVENTIONS, Experiment
from traindx.capture.keras.loops import Loops
from traindx.capture.keras.training import Listener, Training, refusal
from traindx.capture.process.guard import say
from traindx.capture.process.patches import set_within
from traindx.capture.process.ranks import rank_of_process
from traindx.capture.session import FEW_STEPS, RecordedProcess, Session, Stream

PROBES = (
    "structure",
    "leak",
    "growth",
    "modes",
    "memory",
    "latency",
)  # of `traindx check`, by PyTorch's hooks


class Launched:
    """The trainings of a script, one after another. Those of one model, and of others that take up its
    weights, are recorded into one session, each other model into its own."""

    def __init__(self, process: RecordedProcess) -> None:
        self._process = process
        self._backend = KerasBackend()
        self._stream = process.stream(lambda: self._recorded)
        self._recorded: Any = self._backend  # a session's backend, of `fit` or of a loop
        self._batches = Batches()
        self._training: Training | None = None
        self._turns = Turns(self._note_alternating_models)
        self._by_batch: Any = None  # the model that is trained by `train_on_batch`
        self._before = 0  # steps in records that are closed
        self._said: set[str] = set()
        self._fitting = 0  # within `fit` and the like, which are no loops of the script's own
        given, self._unknown = requested_interventions(INTERVENTIONS, process.request.get("with") or ())
        self._experiment = Experiment(process.request, self._stream, given, alone=not process.experiments)
        if process.request.get("with"):
            process.experiments[self._stream] = self._experiment.withdraw
        self._kept = Kept(self._stream, process.out) if process.request.get("keep") else None
        self._loops = Loops(
            self._stream,
            lambda: self._training is None and not self._fitting,
            self._looped,
            self._claim,
        )
        process.ends += [self._experiment.end, self.end]
        self._stream.patches.around(keras.utils, "set_random_seed", self._seeded)
        self._stream.patches.around(Trainer, "fit", self._fit)
        self._stream.patches.around(Trainer, "train_on_batch", self._train_on_batch)

    def end(self) -> None:
        if self._training is not None:
            self._training.end()
        self._loops.end()
        self._batches.remove()
        self._stream.detach()

    def _claim(self) -> bool:
        """Keras trains: other frameworks, through which it computes, keep silent and change nothing. False
        where one of them is recorded already."""
        if self._unknown or self._process.session is not None:
            return False
        self._process.last_check = self._look
        with self._loops.lifted():  # what the others have wrapped below is put back, too
            return self._process.claim_process(self._stream)

    def _look(self, session: Session) -> None:
        for probe in PROBES:
            session.fact(f"{probe}_not_checked", "live models are looked at in PyTorch only")

    def _training_of(self, model: Any) -> Training | None:
        """The training of a model that begins; None where it is not to be recorded."""
        why = self._unknown or refusal(model)
        if why:
            self._experiment.refused(why)
            if why not in self._said:
                self._said.add(why)
                say(f"not recorded: {why}")
            return None
        if not self._turns.fits(model):
            return None
        if self._training is not None and self._is_separate_training(model, self._training):
            self._start_new_record(self._training)
        if self._training is None and self._process.claim_process(self._stream):
            session = self._stream.session()
            if session is not None:
                self._training = Training(
                    session, self._backend, self._stepped, self._batches, self._experiment.rate, again=True
                )
        return self._training

    def _is_separate_training(self, model: Any, training: Training) -> bool:
        """Whether a model has nothing to do with what is being recorded, which is enough for a record."""
        if training.model is model or training.session.step < FEW_STEPS:
            return False
        return not continues_weights(model, training.model)

    def _start_new_record(self, training: Training) -> None:
        """The next training gets its own record (a fold, another setting)."""
        self._before += training.session.step
        report_use(self._experiment.sites)
        training.end()
        self._training, self._backend = None, KerasBackend()
        self._recorded = self._backend
        self._process.begin_anew()
        self._stream.anew()

    def _note_alternating_models(self, message: str) -> None:
        """Say once what the record leaves out."""
        say(message)
        self._stream.fact("models_in_turns", True)
        if self._stream.opened is not None:
            self._stream.opened.event("note", message, "not-measured")

    def _looped(self) -> Session | None:
        """The session of a loop of the script's own; None where something else is recorded."""
        if self._unknown:
            self._experiment.refused(self._unknown)
        self._experiment.looped()
        if not self._process.claim_process(self._stream):
            return None
        self._recorded = self._loops.backend
        return self._stream.session()

    def _stepped(self) -> None:
        session = self._stream.opened
        if session is not None:
            self._experiment.stepped(self._backend)
            self._stream.after_step(self._before + session.step)

    def _seeded(self, original: Callable[..., Any], seed: Any) -> Any:
        self._stream.fact("seeds_set", "keras")
        if isinstance(seed, int) and "seed" not in self._stream.known:
            self._stream.fact("seed", seed)
        return original(seed)

    def _report_arguments(self, named: dict[str, Any]) -> None:
        """The arguments of `fit` other than data."""
        weights = any(named.get(name) is not None for name in ("class_weight", "sample_weight"))
        self._stream.fact("loss_weighted", weights)
        self._stream.fact("planned_epochs", named.get("epochs"))
        kinds = [type(callback).__name__ for callback in as_list(named.get("callbacks"))]
        self._stream.fact("callbacks", ", ".join(kinds) or None)
        schedules = [name for name in kinds if name in ("ReduceLROnPlateau", "LearningRateScheduler")]
        self._stream.fact("schedule", schedules[0] if schedules else None)

    def _fit(self, original: Callable[..., Any], model: Any, *args: Any, **named: Any) -> Any:
        bound = inspect.signature(original).bind(model, *args, **named)
        if not self._stream.active or self._inside(bound.arguments.get("callbacks")):
            with self._within():
                return original(model, *args, **named)
        bound.apply_defaults()
        self._claim()
        self._experiment.fitted(model, bound.arguments)
        self._stream.safely(self._report_arguments, bound.arguments)
        self._stream.line("step", 1)
        self._by_batch = None
        listener, callbacks = Listener(self._training_of), bound.arguments["callbacks"]
        if isinstance(callbacks, keras.callbacks.CallbackList):
            callbacks.append(listener)
        else:
            bound.arguments["callbacks"] = [*as_list(callbacks), listener]
        try:
            # `fit` calls `evaluate` itself, which is no call of the script's.
            with set_within(self._experiment.hooks, "inside_fit", True), self._within():
                found = original(*bound.args, **bound.kwargs)
            if listener.idle:
                self._record_side_model(model, found.history)
            elif self._kept is not None and self._stream.opened is not None:
                self._kept.write(model, self._stream.opened.step)
            return found
        finally:
            listener.on_train_end()
            if isinstance(callbacks, keras.callbacks.CallbackList) and listener in callbacks.callbacks:
                callbacks.callbacks.remove(listener)

    def _record_side_model(self, model: Any, losses: dict[str, Any]) -> None:
        """Of a model that takes turns with the one that is recorded."""
        session = self._stream.opened
        values = losses.get("loss")
        if session is not None and values is not None:
            session.metric(f"{model.name}_loss", values[-1] if isinstance(values, list) else values)

    def _within(self) -> contextlib.AbstractContextManager[None]:
        """Whatever steps here is Keras's own loop."""
        return set_within(self, "_fitting", self._fitting + 1)

    def _inside(self, callbacks: Any) -> bool:
        """Whether somebody records this fit already."""
        given = getattr(callbacks, "callbacks", callbacks)
        return any(isinstance(one, Listener) for one in as_list(given))

    def _train_on_batch(
        self, original: Callable[..., Any], model: Any, x: Any, y: Any = None, *args: Any, **named: Any
    ) -> Any:
        if not self._stream.active or not getattr(model, "compiled", False):
            with self._within():
                return original(model, x, y, *args, **named)
        self._claim()
        if not self._turns.takes(model):
            with self._within():
                result = original(model, x, y, *args, **named)
            self._stream.safely(self._record_side_model, model, first_of(result))
            return result
        training = self._training_of(model)
        if training is None or not (model.built and getattr(model.optimizer, "built", False)):
            if training is not None:
                self._experiment.by_hand(model)
            with self._within():
                return original(model, x, y, *args, **named)
        if self._by_batch is not model:
            self._by_batch = model
            self._experiment.by_hand(model)
            self._stream.line("step", 1)
            training.safely(training.begin, model)
        training.safely(training.batch_begins)
        training.session.batch(x, y, training=True)
        with self._within():
            result = original(model, x, y, *args, **named)
        training.safely(training.batch_ended)
        training.stepped()
        return result


def first_of(result: Any) -> dict[str, Any]:
    """The loss that `train_on_batch` gave back, by its name."""
    if isinstance(result, dict):
        return result
    return {"loss": result[0] if isinstance(result, list | tuple) else result}


FILE = "model.keras"


class Kept:
    """The model of the last `fit`, next to the record; where several models have a record each, that of the
    longest."""

    def __init__(self, stream: Stream, out: Path) -> None:
        self._stream, self._path = stream, out / FILE
        self._of: Any = None  # the session that the file is of
        self._steps = 0

    def write(self, model: Any, steps: int) -> None:
        """Write the file, after so many steps of the record; where that cannot be, the record says why."""
        if rank_of_process() or (self._stream.opened is not self._of and steps <= self._steps):
            return
        self._of, self._steps = self._stream.opened, steps
        try:
            model.save(self._path)
            self._stream.fact("model_sha256", hashlib.sha256(self._path.read_bytes()).hexdigest())
            self._stream.fact("model_tensors", len(model.weights))
        except (
            OSError,
            ValueError,
            TypeError,
            NotImplementedError,
        ) as why:  # a layer that cannot be written down
            self._path.unlink(missing_ok=True)
            self._stream.fact("model_not_kept", f"{type(why).__name__}: {why}"[:200])
