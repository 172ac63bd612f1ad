"""The loss and the gradients' norms of a batch, out of a train step that may be compiled.

What a compiled step computes leaves it by variables alone, and which of them it takes along depends on the
backend: on JAX the optimizer runs in its own scope, and the metrics in one after it. So what is read
where the optimizer gets its gradients waits until the loss tracker gets the loss, in the same step; the
other backends, where the loss comes first, assign it at once."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import keras
import numpy as np
from keras import ops

from traindx.capture.arrays.data import Array
from traindx.capture.keras.state import values_of

Failed = Callable[[str, Exception], None]


class Notes:
    """Two variables next to a loss tracker's own, and what writes them. `seen`: what has been written
    since."""

    def __init__(self, model: Any, failed: Failed) -> None:
        self.tracker = tracker_of(model)
        self._optimizers, self._failed = optimizers_of(model), failed
        self._place = {id(variable): i for i, variable in enumerate(model.trainable_variables)}
        self._loss = self.tracker.add_variable((), "zeros", name="traindx_loss")
        self._held = self.tracker.add_variable((2, len(self._place)), "zeros", name="traindx_gradients")
        self._waiting: Any = None
        self.function: Any = None  # the compiled step that writes them
        self.seen: set[str] = set()
        self._update = self.tracker.update_state
        self.tracker.update_state = self._updated
        # On JAX a loss scale hands its optimizer the gradients within a branch, out of which no value leads.
        self._names = [
            "stateless_apply" if on_jax() and has_scale(one) else "apply" for one in self._optimizers
        ]
        for optimizer, name in zip(self._optimizers, self._names, strict=True):
            hook = self._applied if name == "apply" else self._applied_statelessly
            setattr(optimizer, name, partial(hook, optimizer, getattr(optimizer, name)))

    def are_installed(self, model: Any) -> bool:
        """Whether all is as it was when they were made, the compiled step with it."""
        same = self.function is not None and model.train_function is self.function
        same = same and tracker_of(model) is self.tracker
        ids = [id(variable) for variable in model.trainable_variables]
        own = [id(one) for one in self._optimizers]
        return same and ids == list(self._place) and [id(one) for one in optimizers_of(model)] == own

    def remove(self) -> None:
        """Make the model what it was before. Not during an epoch: the compiled step counts the variables."""
        for optimizer, name in zip(self._optimizers, self._names, strict=True):
            delattr(optimizer, name)
        del self.tracker.update_state
        own = {id(self._loss), id(self._held)}
        self.tracker._variables[:] = [v for v in self.tracker._variables if id(v) not in own]

    def read(self, model: Any) -> tuple[float, Array]:
        """The loss of the last batch, and `[2, p]` in the order of the model's trainable variables: the
        gradients' norms, and their shares of zeros (NaN where there is no gradient)."""
        loss, held = (ops.convert_to_numpy(value) for value in values_of(model, [self._loss, self._held]))
        return float(loss), np.asarray(held, np.float64)

    def _applied(self, optimizer: Any, apply: Any, grads: Any, trainable_variables: Any = None) -> Any:
        """Replaces an optimizer's `apply`."""
        grads = list(grads)
        variables = (
            optimizer._trainable_variables if trainable_variables is None else list(trainable_variables)
        )
        try:
            self._note(grads, variables, scale_of(optimizer) if has_scale(optimizer) else None)
        except Exception as error:  # noqa: BLE001 - nothing may be raised inside the user's train step
            self._failed("reading gradients", error)
        return apply(grads) if trainable_variables is None else apply(grads, variables)

    def _applied_statelessly(self, optimizer: Any, apply: Any, held: Any, grads: Any, trainable: Any) -> Any:
        """Replaces `stateless_apply` of a loss scale."""
        try:
            place = next(i for i, v in enumerate(optimizer.variables) if v is optimizer.dynamic_scale)
            self._note(list(grads), optimizer._trainable_variables, held[place])
        except Exception as error:  # noqa: BLE001 - as above
            self._failed("reading gradients", error)
        return apply(held, grads, trainable)

    def _note(self, grads: Sequence[Any], variables: Sequence[Any], scale: Any) -> None:
        """What an optimizer gets, for its own variables: others have others. `scale`: of the gradients, or
        None."""
        places = [self._place.get(id(variable)) for variable in variables]
        found = self._read_of(grads, places, scale)
        before = self._waiting if on_jax() else self._held
        if len(self._optimizers) > 1 and before is not None:
            own = np.isin(np.arange(len(self._place)), [place for place in places if place is not None])
            found = ops.where(own[None], found, ops.convert_to_tensor(before))
        if on_jax():
            self._waiting = found
        else:
            self._held.assign(found)
            self.seen.add("gradients")

    def _updated(self, values: Any, *args: Any, **named: Any) -> Any:
        """Replaces the loss tracker's `update_state`."""
        try:
            self._loss.assign(ops.mean(ops.cast(values, self._loss.dtype)))
            self.seen.add("loss")
            if self._waiting is not None:
                self._held.assign(self._waiting)
                self._waiting = None
                self.seen.add("gradients")
        except Exception as error:  # noqa: BLE001 - as above
            self._failed("reading the loss", error)
        return self._update(values, *args, **named)

    def _read_of(self, grads: Sequence[Any], places: Sequence[int | None], scale: Any) -> Any:
        nothing = ops.convert_to_tensor(np.array([0, np.nan], np.float32))
        found: list[Any] = [nothing] * len(self._place)
        for place, gradient in zip(places, grads, strict=True):
            if gradient is not None and place is not None:
                if (
                    type(gradient).__name__ == "IndexedSlices"
                ):  # the rows of an embedding that were asked for
                    gradient = gradient.values
                zeros = ops.mean(ops.cast(ops.equal(gradient, 0), "float32"))
                size = norm(gradient) if scale is None else norm(gradient) / ops.cast(scale, "float32")
                found[place] = ops.stack([size, zeros])
        return ops.stack(found, axis=1) if found else ops.zeros((2, 0))  # a model may have nothing to train


def tracker_of(model: Any) -> Any:
    """The metric that the train step updates with its loss: the model's own, or the one that a class has put
    in its place; of several losses the first."""
    own = [metric for metric in model.metrics if metric is not model._loss_tracker]
    named = [metric for metric in own if metric.name == "loss"]
    if not named and model._loss_tracker not in model.metrics:
        named = [metric for metric in own if metric.name.endswith("loss")]
    return next(iter(named), model._loss_tracker)


def optimizers_of(model: Any) -> list[Any]:
    """Those that a model's class holds in addition to the one of `compile`, or that one."""
    held = [value for value in vars(model).values() if isinstance(value, keras.optimizers.Optimizer)]
    return [one for one in held if one is not model.optimizer] or [model.optimizer]


def has_scale(optimizer: Any) -> bool:
    """Whether an optimizer scales its loss."""
    return isinstance(optimizer, keras.optimizers.LossScaleOptimizer)


def scale_of(optimizer: Any) -> Any:
    """What the loss was multiplied with: before it is built, the scale that it begins with."""
    return optimizer.dynamic_scale if optimizer.built else optimizer.initial_scale


def on_jax() -> bool:
    return bool(keras.backend.backend() == "jax")


def norm(values: Any) -> Any:
    """The L2 norm of a tensor, float32. Divided by the largest value first: squares of a gradient that
    explodes would not be finite long before it is."""
    sizes = ops.cast(ops.abs(values), "float32")
    most = ops.max(sizes)
    scale = ops.where(ops.logical_and(ops.isfinite(most), most > 0), most, 1.0)
    return scale * ops.sqrt(ops.sum(ops.square(sizes / scale)))
