"""Loops of one's own in TensorFlow: `GradientTape` and an optimizer of Keras, within `tf.function` or without.

`gradient` tells the loss, the optimizer's `apply` gradients, updates and weights by variable, Keras's losses what they
are fed with. In a compiled function the host is told through `numpy_function`, which nothing that is computed depends
on. Functions compiled by XLA, which cannot call the host, and several replicas are left alone, with a sentence. Loops
on JAX and PyTorch are seen by their rooms."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import keras
import numpy as np
from keras import ops
from keras.src.optimizers.base_optimizer import BaseOptimizer

from traindx.capture.keras import facts
from traindx.capture.keras.notes import norm
from traindx.capture.process.guard import say
from traindx.capture.session.leaves import Leaf
from traindx.capture.session.stream import Stream
from traindx.capture.session.traced import READINGS, Hearing, Steps, TracedBackend, counted


class Loops:
    """The loops of a script. `free()`: whether nothing else trains, as `fit` does; `opened(make)`: whether the stream's
    session is of such a loop from here on."""

    def __init__(self, stream: Stream, free: Callable[[], bool], opened: Callable[[], Any]) -> None:
        self.backend = TracedBackend("keras")
        self._stream, self._free, self._opened = stream, free, opened
        self._steps: Steps | None = None
        self._optimizer: Any = None  # the one that counts the steps
        self._early: Any = None  # the loss of the first step, where it comes before anything is known of the step
        self._taping = self._inside = 0
        self._said = False
        if keras.backend.backend() != "tensorflow":
            return
        from keras.src.utils.module_utils import tensorflow

        tape = tensorflow.GradientTape
        stream.patches.replace(tape, "__enter__", partial(self._counting, 1))
        stream.patches.replace(tape, "__exit__", partial(self._counting, -1))
        stream.patches.replace(tape, "gradient", self._gradient)
        stream.patches.replace(BaseOptimizer, "apply", self._apply)
        stream.patches.replace(keras.losses.Loss, "__call__", self._loss)

    def end(self) -> None:
        if self._steps is not None:
            self._steps.end()

    # What is wrapped.

    def _counting(self, more: int, original: Callable[..., Any]) -> Callable[..., Any]:
        def counting(*args: Any, **named: Any) -> Any:
            self._taping += more
            return original(*args, **named)

        return counting

    def _gradient(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def gradient(tape: Any, target: Any, *args: Any, **named: Any) -> Any:
            found = original(tape, target, *args, **named)
            if self._at_work() and hasattr(target, "shape"):
                self._stream.safely(self._tell, self._heard_loss, ops.mean(target))
            return found

        return gradient

    def _loss(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def call(loss: Any, y_true: Any, y_pred: Any, *args: Any, **named: Any) -> Any:
            self._inside += 1
            try:
                found = original(loss, y_true, y_pred, *args, **named)
            finally:
                self._inside -= 1
            if not self._inside and self._at_work() and hasattr(y_pred, "shape"):
                self._stream.safely(self._fed, loss, y_true, y_pred, found)
            return found

        return call

    def _apply(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def apply(optimizer: Any, grads: Any, trainable_variables: Any = None) -> Any:
            if self._inside or not self._at_work():
                return original(optimizer, grads, trainable_variables)
            grads = list(grads)
            variables = list(optimizer._trainable_variables if trainable_variables is None else trainable_variables)
            before = self._stream.safely(self._copies, optimizer, variables)
            self._inside += 1
            try:
                found = original(optimizer, grads, trainable_variables if trainable_variables is None else variables)
            finally:
                self._inside -= 1
            if before is not None:
                self._stream.safely(self._stepped, before[0], grads, variables, before[1:])
            return found

        return apply

    # What is told.

    def _at_work(self) -> bool:
        if not self._stream.active or not self._free():
            return False
        why = why_not()
        if why and not self._said:
            self._said = True
            say(f"not recorded: {why}")
        return not why

    def _tell(self, hook: Callable[..., None], *values: Any, about: tuple[Any, ...] = ()) -> None:
        from keras.src.utils.module_utils import tensorflow

        heard = Hearing(self._stream, hook, about)
        if tensorflow.executing_eagerly():
            heard(*(ops.convert_to_numpy(value) for value in values))
        else:
            tensorflow.numpy_function(heard, [ops.convert_to_tensor(value) for value in values], [])

    def _copies(self, optimizer: Any, variables: list[Any]) -> list[Any] | None:
        """Rate and values before a step, of the optimizer that counts the steps. None where it cannot be recorded."""
        if self._optimizer is None and not self._open(optimizer, variables):
            return None
        if optimizer is not self._optimizer:
            return None  # another one's: the first counts the steps
        rate = ops.cast(ops.convert_to_tensor(optimizer.learning_rate), "float32")
        return [ops.copy(rate), *(ops.copy(ops.convert_to_tensor(variable)) for variable in variables)]

    def _open(self, optimizer: Any, variables: list[Any]) -> bool:
        from keras.src.utils.module_utils import tensorflow

        session = self._opened()
        if session is None:
            return False
        self._optimizer = optimizer
        self.backend.trained = [
            Leaf(v.path, v.path.rpartition("/")[0] or v.path, int(np.prod(v.shape)), tuple(v.shape)) for v in variables
        ]
        with tensorflow.init_scope():  # out of the function that is being traced
            self.backend.optimizer = facts.of_optimizer(optimizer)
        session.fact("keras_backend", keras.backend.backend())
        session.add_model(self.backend.trained)
        session.add_optimizer(self.backend)
        self._steps = Steps(session, self.backend, partial(counted, self._stream))
        if self._early is not None:
            self._steps.loss(self._early)
        return True

    def _stepped(self, rate: Any, grads: list[Any], variables: list[Any], before: list[Any]) -> None:
        if len(variables) != len(self.backend.trained):
            return
        rows: list[list[Any]] = [[] for _ in range(READINGS)]
        nothing = ops.convert_to_tensor(np.float32(0))
        for gradient, variable, old in zip(grads, variables, before, strict=True):
            found = gradient.values if type(gradient).__name__ == "IndexedSlices" else gradient
            none = found is None
            rows[0].append(nothing if none else norm(found))
            rows[1].append(nothing if none else ops.mean(ops.cast(ops.equal(found, 0), "float32")))
            rows[2].append(norm(ops.convert_to_tensor(variable) - old))
            rows[3].append(norm(old))
            rows[4].append(ops.cast(ops.max(ops.abs(old)), "float32"))
        self._tell(self._heard_step, ops.stack([ops.stack(row) for row in rows]), rate)

    def _fed(self, loss: Any, targets: Any, outputs: Any, value: Any) -> None:
        kind = type(loss).__name__
        logits = bool(loss.get_config().get("from_logits", False))
        name = facts.LOSSES.get(kind, kind)
        name = "binary_cross_entropy_with_logits" if kind == "BinaryCrossentropy" and logits else name
        columns = kind == "CategoricalCrossentropy"
        if self._taping:
            self._stream.fact("loss", name)
            self._stream.fact("loss_name", name)
        self._tell(self._heard_answer, targets, outputs, value, about=(name, bool(self._taping), logits, columns))

    # On the host.

    def _heard_loss(self, value: Any) -> None:
        if self._steps is not None:
            self._steps.loss(value)
        else:
            self._early = value

    def _heard_step(self, readings: Any, rate: Any) -> None:
        if self._steps is not None:
            self._steps.rated(float(rate))
            self._steps.step(readings)

    def _heard_answer(
        self, name: str, training: bool, logits: bool, columns: bool, targets: Any, outputs: Any, value: Any
    ) -> None:
        if self._steps is None:
            return
        if name == "cross_entropy" and not logits:
            outputs = np.log(np.clip(outputs, 1e-7, 1.0))
        if columns and targets.ndim == outputs.ndim:
            targets = targets.argmax(-1)
        elif name == "cross_entropy" and targets.ndim == outputs.ndim and targets.shape[-1] == 1:
            targets = targets[..., 0]
        self._steps.answered(name, training, outputs, targets, np.atleast_1d(value))


def why_not() -> str:
    """Why a function that is being traced cannot tell the host anything; "" where it can."""
    from keras.src.utils.module_utils import tensorflow

    if tensorflow.distribute.get_strategy().num_replicas_in_sync > 1:
        return "a loop of your own over several replicas; `fit` is recorded"
    frame = None if tensorflow.executing_eagerly() else sys._getframe(1)
    while frame is not None:
        tracing = frame.f_code.co_filename.endswith("polymorphic_function.py")
        if tracing and getattr(frame.f_locals.get("self"), "_jit_compile", None):
            return "the step is compiled by XLA (`jit_compile`), and cannot tell what it computes; without it, it can"
        frame = frame.f_back
    return ""
