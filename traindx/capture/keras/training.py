"""One model as it is fitted: its batches, steps and epochs, reported to a session."""

from collections.abc import Callable
from typing import Any

import keras
import numpy as np

from traindx.capture.keras.backend import KerasBackend
from traindx.capture.keras.batches import Batches
from traindx.capture.keras.notes import Notes, has_scale, optimizers_of
from traindx.capture.keras.state import values_of
from traindx.capture.process.guard import say, without_warnings
from traindx.capture.session import Session

WANTED = {"loss", "gradients"}  # of each batch
SEVERAL = 2  # fits of one model after which more are expected


def refusal(model: Any) -> str:
    """Why a model cannot be recorded; "" where it can."""
    if not getattr(model, "compiled", False):
        return "the Keras model has to be compiled first"
    return ""


def device_of(model: Any) -> str:
    """The device of the first of a model's variables."""
    held = values_of(model, model.variables[:1])
    where = str(getattr(held[0], "device", "cpu")).lower() if held else "cpu"
    return "cpu" if "cpu" in where else where


def schedule_of(model: Any, schedule: Any) -> Callable[[int], Any]:
    """Called with a step. On JAX compiled once, like the train step that it is part of: the branches of a
    warmup are functions that it makes anew whenever it is called, which would be compiled at every step."""
    if keras.backend.backend() != "jax" or model.run_eagerly or not model.jit_compile:
        return lambda step: schedule(step)
    from keras.src.backend.jax.trainer import jit

    compiled: Callable[[int], Any] = jit(lambda step: schedule(step))
    return compiled


def is_built_later(model: Any) -> bool:
    """Whether the first step of `fit` makes layers of a model what they are; other backends do it before."""
    layers = model._flatten_layers(include_self=False)
    return keras.backend.backend() == "tensorflow" and any(not layer.built for layer in layers)


class Training:
    """From the beginning of a `fit` (or of the first `train_on_batch`) to `end`. `stepped` is called
    whenever a step was, outside of all guards: it may end the script."""

    def __init__(
        self, session: Session, backend: KerasBackend, stepped: Callable[[], None], batches: Batches,
        altered: Callable[[Any, float | None, int], float | None] = lambda _, rate, step: rate, again: bool = False,
    ) -> None:  # fmt: skip
        """`again`: of a model that is fitted again and again the notes stay in it until `end`, for its step
        is not to be compiled each time."""
        self._again, self._fits = again, 0
        self.session, self._backend, self._stepped, self._batches = session, backend, stepped, batches
        self._altered = altered  # what an experiment makes of an optimizer's rate in a step
        self.model: Any = None
        self._unbuilt: Any = None  # a model that its first step builds
        self._optimizer: Any = None
        self._counts: Any = (
            None  # the one that counts the steps: the model's first, also when it gets another
        )
        self._notes: Notes | None = None
        self._said = False
        self._iterator: Any = None  # of the training data
        self._schedule: Callable[[int], Any] | None = None
        self._first = 0  # steps that the optimizer had made before

    def begin(self, model: Any) -> None:
        """`fit` begins: the data are there, the compiled step is not yet called. Of a model that its first
        step builds, as TensorFlow does with those whose code calls their layers, the second step is the
        first that is recorded."""
        if self._unbuilt is None and self.model is not model and is_built_later(model):
            self._unbuilt = model
            return
        made = tuple(self._batches.made)
        if self._notes is None or not self._notes.are_installed(model):
            self._release()  # of a `fit` that was broken off, or of a model that was compiled anew
        self._fits = self._fits + 1 if self.model is model else 1
        self._optimizer, *others = optimizers_of(model)
        other, self.model = self.model is not model, model
        self._counts = self._optimizer if other else self._counts
        self._backend.trains(model, self._counts, [self._optimizer, *others])
        if other:
            self.session.add_model(model)
            self.session.add_optimizer(self._counts)
            if others:
                self.session.fact("optimizers", 1 + len(others))
        judging = getattr(
            model, "_eval_epoch_iterator", None
        )  # made before the training begins, in some versions
        self._iterator = next((one for one in reversed(made) if one is not judging), None)
        self._record_data_facts()
        self.session.fact("device", device_of(model))
        if self._backend.observer is not None:
            self._backend.observer.compiled(model, self._backend.names())
        if self._notes is None:
            self._notes = Notes(model, self.session.failed)
            model.make_train_function(force=True)  # one that was compiled before knows nothing of the notes
            self._notes.function = model.train_function
            self.session.clock.anew = self.session.step > 0
        rate = getattr(self._inner, "_learning_rate", None)
        scheduled = isinstance(rate, keras.optimizers.schedules.LearningRateSchedule)
        self._schedule = schedule_of(model, rate) if scheduled else None
        self._first = int(keras.ops.convert_to_numpy(self._optimizer.iterations)) - self.session.step

    @property
    def _inner(self) -> Any:
        """The optimizer inside of a loss scale."""
        return getattr(self._optimizer, "inner_optimizer", self._optimizer)

    def _record_data_facts(self) -> None:
        """What the data's adapter knows."""
        adapter = getattr(self._iterator, "data_adapter", None)
        samples, shuffle = getattr(adapter, "_num_samples", None), getattr(adapter, "_shuffle", None)
        if isinstance(samples, int):
            self.session.fact("dataset_size", samples)
        if isinstance(shuffle, bool):
            self.session.fact("shuffle", shuffle)
        steps = getattr(self._iterator, "num_batches", None)
        if isinstance(steps, int):
            self.session.fact("steps_per_epoch", steps)

    def pause(self) -> None:
        """`fit` has ended."""
        self._unbuilt = None
        if self._again and self._fits > SEVERAL:
            self._batches.forget()
        else:
            self.end()

    def end(self) -> None:
        """Everything is as it was before."""
        self._batches.forget()
        self._release()

    def _release(self) -> None:
        self._batches.made.clear()  # batches that are given one by one have none
        notes, self._notes = self._notes, None
        if notes is not None:
            notes.remove()
            self.model.train_function = None

    def safely(self, hook: Callable[..., None], *given: Any) -> None:
        """Call a hook; if it fails, the session stops. The variables stay until `fit` ends, which counts
        them."""
        if self.session.active:
            outermost = self.session.clock.enter()
            try:
                without_warnings(hook, *given) if outermost else hook(*given)
            except Exception as error:  # noqa: BLE001 - nothing may be raised inside `fit`
                self.session.failed(hook.__name__, error)
            finally:
                if outermost:
                    self.session.clock.leave()

    def batch_begins(self) -> None:
        if self._notes is not None and self.session.sampling and self.session.step:
            self._backend.before(self.session.watched.all_parameters(self._counts))

    def batch_ended(self) -> None:
        if self._unbuilt is not None:
            self._batches.take()
            self.begin(self._unbuilt)
            self._unbuilt = None
            return
        if self._notes is None:
            return
        if self._notes.seen != WANTED:
            missing = " and ".join(sorted(WANTED - self._notes.seen))
            self._say_once(f"the train step of this model does not show its {missing}")
            return
        self.drain()
        loss, self._backend.readings = self._notes.read(self.model)
        if has_scale(self._optimizer):
            self.session.metric("loss_scale", self._scale())
            if not np.isfinite(self._backend.readings[0]).all():
                self.session.skipped()
                return
        optimizer = self._optimizer
        self._backend.rate = self._altered(optimizer, self._rate(), self._first + self.session.step)
        self.session.loss(loss)
        if self._backend.observer is not None:
            self._backend.observer.step = self.session.step
        self.session.optimizer_step_begin(self._counts, timed=False)
        self.session.optimizer_step_end(self._counts)

    def _scale(self) -> float:
        held = values_of(self.model, [self._optimizer.dynamic_scale])[0]
        return float(keras.ops.convert_to_numpy(held))

    def stepped(self) -> None:
        """Report the step to whoever counts them; not in a guard, as it may end the script."""
        if self._notes is not None and self._notes.seen == WANTED:
            self._stepped()

    def drain(self) -> None:
        """Take the batches that were drawn."""
        for iterator, inputs, targets in self._batches.take():
            if iterator is self._iterator or targets is not None:
                self.session.batch(inputs, targets, training=iterator is self._iterator)

    def _rate(self) -> float | None:
        """The rate of the step that was just made."""
        if self._schedule is not None:
            return float(keras.ops.convert_to_numpy(self._schedule(self._first + self.session.step)))
        rate = getattr(self._inner, "_learning_rate", None)
        if not isinstance(rate, keras.Variable):
            return None
        return float(keras.ops.convert_to_numpy(values_of(self.model, [rate])[0]))

    def _say_once(self, message: str) -> None:
        if not self._said:
            self._said = True
            say(message)
            self.session.event("note", message, "not-measured")

    def validating(self) -> None:
        self.session.clock.interrupted = True

    def epoch_ended(self, logs: dict[str, Any]) -> None:
        self.drain()
        for name, value in logs.items():
            if name.startswith("val_"):
                self.session.validation(name[4:], value)
            elif name not in ("loss", "learning_rate", "lr"):
                self.session.metric(name, value)


class Listener(keras.callbacks.Callback):  # type: ignore[misc] # of no known type
    """What `fit` calls. `training` makes the training of a model, or None where it is not to be recorded."""

    def __init__(
        self, training: Callable[[Any], Training | None], ended: Callable[[], None] = lambda: None
    ) -> None:
        super().__init__()
        self._make, self._ended = training, ended
        self._made: Training | None = None
        self.idle = False  # this `fit` was not recorded

    def on_train_begin(self, logs: Any = None) -> None:
        self._made = self._make(self.model)
        self.idle = self._made is None
        if self._made is not None:
            self._made.safely(self._made.begin, self.model)

    def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:
        if self._made is not None:
            self._made.safely(self._made.batch_begins)

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        if self._made is not None:
            self._made.safely(self._made.batch_ended)
            self._made.stepped()

    def on_test_begin(self, logs: Any = None) -> None:
        if self._made is not None:
            self._made.safely(self._made.validating)

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        if self._made is not None:
            self._made.safely(self._made.epoch_ended, logs or {})

    def on_train_end(self, logs: Any = None) -> None:
        if self._made is not None:
            self._made.pause()
        self._made = None
        self._ended()
