"""The loss and the gradient's norms of a batch, out of a train step that may be compiled.

What a compiled step computes leaves it by variables alone, and which of them it takes along depends on the backend: on
JAX the optimizer runs in a scope of its own, and the metrics in one after it. So the norms, taken where the optimizer
gets its gradients, wait until the loss tracker gets the loss, in the same step; the other backends, where the loss
comes first, assign them at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import keras
from keras import ops

Failed = Callable[[str, Exception], None]


class Notes:
    """Two variables beside a loss tracker's own, and what writes them. `seen`: what has been written since."""

    def __init__(self, model: Any, failed: Failed) -> None:
        self._tracker, self._optimizer, self._failed = model._loss_tracker, model.optimizer, failed
        self._place = {id(variable): i for i, variable in enumerate(model.trainable_variables)}
        self._loss = self._tracker.add_variable((), "zeros", name="traindx_loss")
        self._norms = self._tracker.add_variable((len(self._place),), "zeros", name="traindx_norms")
        self._waiting: Any = None
        self.seen: set[str] = set()
        self._apply, self._update = self._optimizer.apply, self._tracker.update_state
        self._optimizer.apply, self._tracker.update_state = self._applied, self._updated

    def remove(self) -> None:
        """As it was before. Not amid an epoch: the compiled step counts the variables."""
        del self._optimizer.apply, self._tracker.update_state
        own = {id(self._loss), id(self._norms)}
        self._tracker._variables[:] = [v for v in self._tracker._variables if id(v) not in own]

    def read(self, model: Any) -> tuple[float, list[float]]:
        """The loss of the last batch, and `norms[p]` in the order of the model's trainable variables."""
        held = [self._loss, self._norms]
        state = None if getattr(model, "_jax_state_synced", True) else model._jax_state
        if state:  # amid an epoch JAX's values are not in the variables, and putting them there is dear
            by_id = {id(v): value for v, value in zip(model.metrics_variables, state["metrics_variables"], strict=True)}
            held = [by_id[id(variable)] for variable in held]
        loss, norms = (ops.convert_to_numpy(value) for value in held)
        return float(loss), norms.astype(float).tolist()

    def _applied(self, grads: Any, trainable_variables: Any = None) -> Any:
        """Stands for the optimizer's `apply`."""
        grads = list(grads)
        try:
            variables = self._optimizer._trainable_variables if trainable_variables is None else trainable_variables
            found = self._norms_of(grads, [self._place[id(variable)] for variable in variables])
            if keras.backend.backend() == "jax":
                self._waiting = found
            else:
                self._norms.assign(found)
                self.seen.add("gradients")
        except Exception as error:  # noqa: BLE001 - nothing may be raised inside the user's train step
            self._failed("reading gradients", error)
        return self._apply(grads) if trainable_variables is None else self._apply(grads, trainable_variables)

    def _updated(self, values: Any, *args: Any, **named: Any) -> Any:
        """Stands for the loss tracker's `update_state`."""
        try:
            self._loss.assign(ops.reshape(ops.cast(values, self._loss.dtype), ()))
            self.seen.add("loss")
            if self._waiting is not None:
                self._norms.assign(self._waiting)
                self._waiting = None
                self.seen.add("gradients")
        except Exception as error:  # noqa: BLE001 - as above
            self._failed("reading the loss", error)
        return self._update(values, *args, **named)

    def _norms_of(self, grads: Sequence[Any], places: Sequence[int]) -> Any:
        """`norms[p]`; 0 where there is no gradient."""
        found: list[Any] = [ops.zeros((), "float32")] * len(self._place)
        for place, gradient in zip(places, grads, strict=True):
            if gradient is not None:
                found[place] = norm(gradient)
        return ops.stack(found)


def norm(values: Any) -> Any:
    """The L2 norm of a tensor, float32. Divided by the largest value first: squares of a gradient that explodes would
    not be finite long before it is."""
    sizes = ops.cast(ops.abs(values), "float32")
    most = ops.max(sizes)
    scale = ops.where(ops.logical_and(ops.isfinite(most), most > 0), most, 1.0)
    return scale * ops.sqrt(ops.sum(ops.square(sizes / scale)))
