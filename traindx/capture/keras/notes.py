"""The loss and the gradients' norms of a batch, out of a train step that may be compiled.

What a compiled step computes leaves it by variables alone, and which of them it takes along depends on the backend: on
JAX the optimizer runs in a scope of its own, and the metrics in one after it. So what is read where the optimizer gets
its gradients waits until the loss tracker gets the loss, in the same step; the other backends, where the loss comes
first, assign it at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import keras
import numpy as np
from keras import ops

from traindx.capture.arrays.data import Array
from traindx.capture.keras.state import values_of

Failed = Callable[[str, Exception], None]


class Notes:
    """Two variables beside a loss tracker's own, and what writes them. `seen`: what has been written since."""

    def __init__(self, model: Any, failed: Failed) -> None:
        self.tracker = tracker_of(model)
        self._optimizer, self._failed = model.optimizer, failed
        self._place = {id(variable): i for i, variable in enumerate(model.trainable_variables)}
        self._loss = self.tracker.add_variable((), "zeros", name="traindx_loss")
        self._held = self.tracker.add_variable((2, len(self._place)), "zeros", name="traindx_gradients")
        self._waiting: Any = None
        self.seen: set[str] = set()
        self._apply, self._update = self._optimizer.apply, self.tracker.update_state
        self._optimizer.apply, self.tracker.update_state = self._applied, self._updated

    def remove(self) -> None:
        """As it was before. Not amid an epoch: the compiled step counts the variables."""
        del self._optimizer.apply, self.tracker.update_state
        own = {id(self._loss), id(self._held)}
        self.tracker._variables[:] = [v for v in self.tracker._variables if id(v) not in own]

    def read(self, model: Any) -> tuple[float, Array]:
        """The loss of the last batch, and `[2, p]` in the order of the model's trainable variables: the gradients'
        norms, and their shares of zeros (NaN where there is no gradient)."""
        loss, held = (ops.convert_to_numpy(value) for value in values_of(model, [self._loss, self._held]))
        return float(loss), np.asarray(held, np.float64)

    def _applied(self, grads: Any, trainable_variables: Any = None) -> Any:
        """Stands for the optimizer's `apply`."""
        grads = list(grads)
        try:
            variables = self._optimizer._trainable_variables if trainable_variables is None else trainable_variables
            found = self._read_of(grads, [self._place.get(id(variable)) for variable in variables])
            if keras.backend.backend() == "jax":
                self._waiting = found
            else:
                self._held.assign(found)
                self.seen.add("gradients")
        except Exception as error:  # noqa: BLE001 - nothing may be raised inside the user's train step
            self._failed("reading gradients", error)
        return self._apply(grads) if trainable_variables is None else self._apply(grads, trainable_variables)

    def _updated(self, values: Any, *args: Any, **named: Any) -> Any:
        """Stands for the loss tracker's `update_state`."""
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

    def _read_of(self, grads: Sequence[Any], places: Sequence[int | None]) -> Any:
        nothing = ops.convert_to_tensor(np.array([0, np.nan], np.float32))
        found: list[Any] = [nothing] * len(self._place)
        for place, gradient in zip(places, grads, strict=True):
            if gradient is not None and place is not None:
                if type(gradient).__name__ == "IndexedSlices":  # the rows of an embedding that were asked for
                    gradient = gradient.values
                zeros = ops.mean(ops.cast(ops.equal(gradient, 0), "float32"))
                found[place] = ops.stack([norm(gradient), zeros])
        return ops.stack(found, axis=1)


def tracker_of(model: Any) -> Any:
    """The metric that the train step tells its loss: the model's own, or the one that a class has put in its place."""
    own = [metric for metric in model.metrics if metric.name == "loss" and metric is not model._loss_tracker]
    return own[0] if own else model._loss_tracker


def norm(values: Any) -> Any:
    """The L2 norm of a tensor, float32. Divided by the largest value first: squares of a gradient that explodes would
    not be finite long before it is."""
    sizes = ops.cast(ops.abs(values), "float32")
    most = ops.max(sizes)
    scale = ops.where(ops.logical_and(ops.isfinite(most), most > 0), most, 1.0)
    return scale * ops.sqrt(ops.sum(ops.square(sizes / scale)))
