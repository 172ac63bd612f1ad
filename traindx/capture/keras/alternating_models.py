"""Several models in one script, and which of them is recorded."""

import weakref
from collections.abc import Callable
from typing import Any

import keras
import numpy as np

LONG = 16  # batches in a row after which a model does not merely take its turn


class Turns:
    """Models that are trained one after the other are recorded one after the other. Those that take turns
    (the players of a GAN, an actor and its critic) are not: the one that comes back first is recorded from
    then on, with `report` called once."""

    def __init__(self, report: Callable[[str], None]) -> None:
        self._report = report
        self._known: list[weakref.ref[Any]] = []  # in the order in which they were taken up
        self._current: Any = None
        self._locked = False
        self._other: Any = None  # the model that takes its turn with `train_on_batch`
        self._streak = 0

    def fits(self, model: Any) -> bool:
        """Whether the `fit` of a model that begins is recorded."""
        known = any(one() is model for one in self._known)
        if model is self._current:
            return True
        if self._locked and known:
            return False
        if known:
            self._lock(model)
        else:
            self._known.append(weakref.ref(model))
        self._current, self._locked = model, known
        return True

    def takes(self, model: Any) -> bool:
        """Whether a batch of a model, by `train_on_batch`, is recorded."""
        if model is self._current or self._current is None:
            if self._other is not None and not self._locked:
                self._lock(model)
            self._other, self._streak = None, 0
            return self.fits(model)
        self._streak = self._streak + 1 if model is self._other else 1
        self._other = model
        if self._streak < LONG or self._locked:
            return False
        self._other = None
        return self.fits(model)

    def _lock(self, model: Any) -> None:
        self._locked = True
        self._report(
            f"several models are trained in turns: {model.name} is recorded, of the others only their losses"
        )


def continues_weights(model: Any, before: Any) -> bool:
    """Whether a model begins with weights that another one (None: none) ended with."""
    if before is None:
        return False
    own, theirs = (weights_of(one) for one in (model, before))
    return any(a.shape == b.shape and np.array_equal(a, b) for a in own for b in theirs)


def weights_of(model: Any) -> list[Any]:
    """The values that a model trains, on the host, but for those that begin with equal values (biases)."""
    found = [np.asarray(keras.ops.convert_to_numpy(v)) for v in model.trainable_variables]
    return [values for values in found if values.size > 1 and (values != values.flat[0]).any()]
