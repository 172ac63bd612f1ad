"""Custom loops with an optimizer of Keras: in TensorFlow with `GradientTape`, within `tf.function` or
without; in PyTorch with `backward` or `torch.autograd.grad`.

`gradient` or `backward` reports the loss, the optimizer's `apply` gradients, updates and weights by
variable, Keras's losses their arguments. In a compiled function the host is called through `numpy_function`,
which nothing that is computed depends on. Functions compiled by XLA, which cannot call the host, and several
replicas are not recorded, and a sentence says so. `capture/jax` records loops on JAX, `capture/torch` those
whose optimizer is one of PyTorch."""

import contextlib
import sys
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import keras
import numpy as np
from keras import ops
from keras.src.optimizers.base_optimizer import BaseOptimizer

from traindx.capture.compiled.backend import CompiledBackend
from traindx.capture.compiled.callbacks import HostCallback, count_step
from traindx.capture.compiled.leaves import Leaf
from traindx.capture.compiled.steps import READINGS, Steps
from traindx.capture.keras import facts
from traindx.capture.keras.notes import norm
from traindx.capture.process.guard import say
from traindx.capture.process.patches import Patches, set_within
from traindx.capture.session import Stream


class Loops:
    """The loops of a script. `free()`: whether nothing else trains, as `fit` does; `opened()`: the stream's
    session, which is of such a loop from here on; `claim()`: other frameworks, through which Keras computes,
    keep silent."""

    def __init__(
        self, stream: Stream, free: Callable[[], bool], opened: Callable[[], Any], claim: Callable[[], bool]
    ) -> None:
        self.backend = CompiledBackend("keras")
        self._stream, self._free, self._opened, self._claim = stream, free, opened, claim
        self._steps: Steps | None = None
        self._optimizer: Any = None  # the one that counts the steps
        self._early: Any = (
            None  # the loss of the first step, where it comes before anything is known of the step
        )
        self._taping = self._inside = 0
        self._said = False
        self._made = {"keras": 0, "torch": 0}  # optimizers
        self._ways = Patches()  # of what PyTorch has wrapped for itself, too
        stream.ends.append(self._ways.undo)
        if keras.backend.backend() == "tensorflow":
            self._watch_tapes()
        elif keras.backend.backend() == "torch":
            self._watch_backward()
        else:
            return
        stream.patches.around(BaseOptimizer, "apply", self._apply)
        stream.patches.around(keras.losses.Loss, "__call__", self._loss)

    def _watch_tapes(self) -> None:
        from keras.src.utils.module_utils import tensorflow

        tape, patches = tensorflow.GradientTape, self._stream.patches
        patches.around(tape, "__enter__", partial(self._counting, 1))
        patches.around(tape, "__exit__", partial(self._counting, -1))
        patches.around(tape, "gradient", self._gradient)

    def _watch_backward(self) -> None:
        from keras.src.backend.torch.trainer import torch

        self._ways.around(BaseOptimizer, "__init__", partial(self._making, "keras"))
        self._ways.around(torch.optim.Optimizer, "__init__", partial(self._making, "torch"))
        self._ways.around(torch.autograd, "backward", self._backward)
        self._ways.around(torch.autograd, "grad", self._backward)

    @contextlib.contextmanager
    def lifted(self) -> Iterator[None]:
        """PyTorch without our wrappers, for as long as this lasts."""
        self._ways.undo()
        try:
            yield
        finally:
            if keras.backend.backend() == "torch":
                self._watch_backward()

    def end(self) -> None:
        if self._steps is not None:
            self._steps.finish_steps()

    # What is wrapped.

    def _counting(self, more: int, original: Callable[..., Any], *args: Any, **named: Any) -> Any:
        self._taping += more
        return original(*args, **named)

    def _making(self, whose: str, original: Callable[..., Any], *args: Any, **named: Any) -> Any:
        self._made[whose] += 1
        return original(*args, **named)

    def _backward(self, original: Callable[..., Any], *args: Any, **named: Any) -> Any:
        """Gradients of PyTorch. With an optimizer of Keras, and none of PyTorch, they are on their way to
        it."""
        if self._made["keras"] and not self._made["torch"] and not self._inside and self._at_work():
            self._stream.safely(self._differentiated, [*args, *named.values()][0])
        return original(*args, **named)

    def _differentiated(self, outputs: Any) -> None:
        loss = outputs[0] if isinstance(outputs, list | tuple) else outputs
        if self._steps is None and not self._claim():
            return
        if len(loss.shape) == 0 or loss.numel() == 1:
            self._report(self._on_loss, loss.reshape(()))

    def _gradient(
        self, original: Callable[..., Any], tape: Any, target: Any, *args: Any, **named: Any
    ) -> Any:
        found = original(tape, target, *args, **named)
        if self._at_work() and hasattr(target, "shape"):
            self._stream.safely(self._report, self._on_loss, ops.mean(target))
        return found

    def _loss(
        self, original: Callable[..., Any], loss: Any, y_true: Any, y_pred: Any, *args: Any, **named: Any
    ) -> Any:
        with set_within(self, "_inside", self._inside + 1):
            found = original(loss, y_true, y_pred, *args, **named)
        if not self._inside and self._at_work() and hasattr(y_pred, "shape"):
            self._stream.safely(self._fed, loss, y_true, y_pred, found)
        return found

    def _apply(
        self, original: Callable[..., Any], optimizer: Any, grads: Any, trainable_variables: Any = None
    ) -> Any:
        if self._inside or not self._at_work():
            return original(optimizer, grads, trainable_variables)
        grads = list(grads)
        variables = list(
            optimizer._trainable_variables if trainable_variables is None else trainable_variables
        )
        with without_gradients():
            before = self._stream.safely(self._copies, optimizer, variables)
        with set_within(self, "_inside", self._inside + 1):
            found = original(
                optimizer, grads, trainable_variables if trainable_variables is None else variables
            )
        if before is not None:
            with without_gradients():
                self._stream.safely(self._stepped, before[0], grads, variables, before[1:])
        return found

    # What is reported.

    def _at_work(self) -> bool:
        if not self._stream.active or not self._free():
            return False
        why = why_untraceable() if keras.backend.backend() == "tensorflow" else ""
        if why and not self._said:
            self._said = True
            say(f"not recorded: {why}")
        return not why

    def _report(self, hook: Callable[..., None], *values: Any, about: tuple[Any, ...] = ()) -> None:
        callback = HostCallback(self._stream, hook, about)
        if is_eager():
            callback(*(ops.convert_to_numpy(value) for value in values))
        else:
            from keras.src.utils.module_utils import tensorflow

            tensorflow.numpy_function(callback, [ops.convert_to_tensor(value) for value in values], [])

    def _copies(self, optimizer: Any, variables: list[Any]) -> list[Any] | None:
        """Rate and values before a step, of the optimizer that counts the steps. None where it cannot be
        recorded."""
        if self._optimizer is None and not self._open(optimizer, variables):
            return None
        if optimizer is not self._optimizer:
            return None  # another one's: the first counts the steps
        rate = ops.cast(ops.convert_to_tensor(optimizer.learning_rate), "float32")
        return [ops.copy(rate), *(ops.copy(ops.convert_to_tensor(variable)) for variable in variables)]

    def _open(self, optimizer: Any, variables: list[Any]) -> bool:
        session = self._opened()
        if session is None:
            return False
        self._optimizer = optimizer
        self.backend.trained = leaves_of(variables)
        with leave_tracing():
            self.backend.optimizer = facts.optimizer_facts(optimizer)
        session.fact("keras_backend", keras.backend.backend())
        session.add_model(self.backend.trained)
        session.add_optimizer(self.backend)
        self._steps = Steps(session, self.backend, partial(count_step, self._stream))
        if self._early is not None:
            self._steps.add_loss(self._early)
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
        self._report(self._on_step, ops.stack([ops.stack(row) for row in rows]), rate)

    def _fed(self, loss: Any, targets: Any, outputs: Any, value: Any) -> None:
        kind = type(loss).__name__
        logits = bool(loss.get_config().get("from_logits", False))
        name = facts.LOSSES.get(kind, kind)
        name = "binary_cross_entropy_with_logits" if kind == "BinaryCrossentropy" and logits else name
        columns = kind == "CategoricalCrossentropy"
        training = bool(self._taping or getattr(outputs, "requires_grad", False))
        if training:
            self._stream.fact("loss", name)
            self._stream.fact("loss_name", name)
        self._report(self._on_answer, targets, outputs, value, about=(name, training, logits, columns))

    # On the host.

    def _on_loss(self, value: Any) -> None:
        if self._steps is not None:
            self._steps.add_loss(value)
        else:
            self._early = value

    def _on_step(self, readings: Any, rate: Any) -> None:
        if self._steps is not None:
            self._steps.add_rate(float(rate))
            self._steps.add_step(readings)

    def _on_answer(
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
        self._steps.add_answer(name, training, outputs, targets, np.atleast_1d(value))


def leaves_of(variables: list[Any]) -> list[Leaf]:
    """Variables by their paths, without the model's name, where all are of one."""
    tops = {v.path.partition("/")[0] for v in variables}
    one = len(tops) == 1 and all(v.path.count("/") > 1 for v in variables)
    paths = [v.path.partition("/")[2] if one else v.path for v in variables]
    return [
        Leaf(path, path.rpartition("/")[0] or path, int(np.prod(v.shape)), tuple(v.shape))
        for path, v in zip(paths, variables, strict=True)
    ]


def is_eager() -> bool:
    """Whether there are values, and not the placeholders of a function that is being traced."""
    if keras.backend.backend() != "tensorflow":
        return True
    from keras.src.utils.module_utils import tensorflow

    return bool(tensorflow.executing_eagerly())


def leave_tracing() -> contextlib.AbstractContextManager[Any]:
    """Out of a function that is being traced."""
    if keras.backend.backend() != "tensorflow":
        return contextlib.nullcontext()
    from keras.src.utils.module_utils import tensorflow

    return tensorflow.init_scope()  # type: ignore[no-any-return]


def without_gradients() -> contextlib.AbstractContextManager[Any]:
    """Nothing that is computed here is differentiated by PyTorch."""
    if keras.backend.backend() != "torch":
        return contextlib.nullcontext()
    from keras.src.backend.torch.trainer import torch

    return torch.no_grad()  # type: ignore[no-any-return]


def why_untraceable() -> str:
    """Why a function that is being traced cannot call the host; "" where it can."""
    from keras.src.utils.module_utils import tensorflow

    if tensorflow.distribute.get_strategy().num_replicas_in_sync > 1:
        return "a loop of your own over several replicas; `fit` is recorded"
    frame = None if tensorflow.executing_eagerly() else sys._getframe(1)
    while frame is not None:
        tracing = frame.f_code.co_filename.endswith("polymorphic_function.py")
        if tracing and getattr(frame.f_locals.get("self"), "_jit_compile", None):
            return "the step is compiled by XLA (`jit_compile`), which cannot be observed; train without it"
        frame = frame.f_back
    return ""
