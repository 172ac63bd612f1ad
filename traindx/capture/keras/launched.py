"""Keras in a script that `traindx run` started: `fit` and `train_on_batch` of any compiled model."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, Protocol

import keras
from keras.src.models.model import Trainer

from traindx.capture.keras.backend import KerasBackend
from traindx.capture.keras.batches import Batches
from traindx.capture.keras.training import Listener, Training, refusal
from traindx.capture.process.guard import say
from traindx.capture.session.session import Session
from traindx.capture.session.stream import Stream


class Process(Protocol):
    """The script's process, of `launch/attach`."""

    request: dict[str, Any]
    ends: list[Callable[[], None]]

    def stream(self, make: Callable[..., Session]) -> Stream: ...
    def taken_over(self, by: Stream) -> bool: ...


def attach(process: Process, library: str) -> None:
    """Look for trainings in Keras from here on."""
    Launched(process)


class Launched:
    """The trainings of a script, which are recorded one after another into one session."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self._backend = KerasBackend()
        self._stream = process.stream(lambda out, **options: Session(out, self._backend, **options))
        self._batches = Batches()
        self._training: Training | None = None
        self._by_batch: Any = None  # the model that is trained by `train_on_batch`
        self._said: set[str] = set()
        process.ends.append(self.end)
        self._stream.patches.replace(Trainer, "fit", self._fit)
        self._stream.patches.replace(Trainer, "train_on_batch", self._train_on_batch)

    def end(self) -> None:
        if self._training is not None:
            self._training.end()
        self._batches.remove()
        self._stream.detach()

    def _of(self, model: Any) -> Training | None:
        """The training of a model that begins; None where it is not to be recorded."""
        why = refusal(model)
        if why:
            if why not in self._said:
                self._said.add(why)
                say(f"not recorded: {why}")
            return None
        if self._training is None and self._process.taken_over(self._stream):
            session = self._stream.session()
            if session is not None:
                self._training = Training(session, self._backend, self._stepped, self._batches)
        return self._training

    def _stepped(self) -> None:
        session = self._stream.opened
        if session is not None:
            self._stream.after_step(session.step)

    def _told(self, named: dict[str, Any]) -> None:
        """What `fit` was given besides data."""
        weights = any(named.get(name) is not None for name in ("class_weight", "sample_weight"))
        self._stream.fact("loss_weighted", weights)
        self._stream.fact("planned_epochs", named.get("epochs"))
        callbacks = named.get("callbacks")
        given = callbacks if isinstance(callbacks, list | tuple) else [callbacks] if callbacks is not None else []
        kinds = [type(callback).__name__ for callback in given]
        self._stream.fact("callbacks", ", ".join(kinds) or None)
        schedules = [name for name in kinds if name in ("ReduceLROnPlateau", "LearningRateScheduler")]
        self._stream.fact("schedule", schedules[0] if schedules else None)

    def _fit(self, original: Callable[..., Any]) -> Callable[..., Any]:
        signature = inspect.signature(original)

        def fit(model: Any, *args: Any, **named: Any) -> Any:
            bound = signature.bind(model, *args, **named)
            if not self._stream.active or self._inside(bound.arguments.get("callbacks")):
                return original(model, *args, **named)
            bound.apply_defaults()
            self._stream.safely(self._told, bound.arguments)
            self._stream.line("step", 1)
            self._by_batch = None
            listener, callbacks = Listener(self._of), bound.arguments["callbacks"]
            if isinstance(callbacks, keras.callbacks.CallbackList):
                callbacks.append(listener)
            else:
                given = list(callbacks) if isinstance(callbacks, list | tuple) else [callbacks] if callbacks else []
                bound.arguments["callbacks"] = [*given, listener]
            try:
                return original(*bound.args, **bound.kwargs)
            finally:
                listener.on_train_end()
                if isinstance(callbacks, keras.callbacks.CallbackList) and listener in callbacks.callbacks:
                    callbacks.callbacks.remove(listener)

        return fit

    def _inside(self, callbacks: Any) -> bool:
        """Whether somebody records this fit already."""
        given = getattr(callbacks, "callbacks", callbacks)
        return any(isinstance(one, Listener) for one in (given if isinstance(given, list | tuple) else [given]))

    def _train_on_batch(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def train_on_batch(model: Any, x: Any, y: Any = None, *args: Any, **named: Any) -> Any:
            ready = self._stream.active and model.built and getattr(model.optimizer, "built", False)
            training = self._of(model) if ready else None
            if training is None:
                return original(model, x, y, *args, **named)
            if self._by_batch is not model:
                self._by_batch = model
                self._stream.line("step", 1)
                training.safely(training.begin, model)
            training.safely(training.batch_begins)
            training.session.batch(x, y, training=True)
            result = original(model, x, y, *args, **named)
            training.safely(training.batch_ended)
            training.stepped()
            return result

        return train_on_batch
