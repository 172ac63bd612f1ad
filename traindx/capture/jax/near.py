"""Gradients and weights as they lie in the host's memory: norms of gradients at every step, the rest where a step is
sampled, of a part of each that moves on from sample to sample."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from traindx.capture.arrays.activations import square_sum
from traindx.capture.arrays.data import Array
from traindx.capture.arrays.windows import sizes, window
from traindx.capture.session.session import Session
from traindx.capture.session.traced import ROWS, TracedBackend
from traindx.capture.signals import weights as of_weights

SMALL = 1e-30  # sums of squares below lose digits in single precision


class Near:
    """Reads what a step told. What is kept is copied: the arrays end with the call."""

    def __init__(self, session: Session, backend: TracedBackend) -> None:
        self._session, self._backend = session, backend
        self._turn = 0
        self._before: list[Array] = []  # parts of the weights before the sampled step whose readings are `_open`
        self._open: Array | None = None

    def arrived(self, gradients: Sequence[Array], rest: Sequence[Array], given: bool) -> Callable[[], Array]:
        """A step: what reads it, once it is known whether it is sampled. `rest`: the weights before it if they are
        `given`, else one array with the norms of updates."""
        weights = rest if given else ()
        self._over(weights)
        return partial(self._read, gradients, weights, None if given else rest[0])

    def _over(self, weights: Sequence[Array]) -> None:
        """The weights after the step that was read last."""
        held, self._open = self._open, None
        if held is None or not weights:
            return
        began = time.perf_counter()
        for place, (old, values) in enumerate(zip(self._before, weights, strict=True)):
            change, size = window(values, self._turn) - old, square_sum(old)
            if len(old) and size - size == 0:
                share = np.count_nonzero(change == 0) / len(change)
                held[[2, 5, 6], place] = square_sum(change) ** 0.5, size**0.5, share
        self._spent(began)

    def _read(self, gradients: Sequence[Array], weights: Sequence[Array], updates: Array | None) -> Array:
        """`[ROWS, p]` of a step; what changed is filled in when the next one comes, unless the norms of `updates` are
        given."""
        session = self._session
        held = np.full((ROWS, len(gradients)), np.nan)
        if session.sampling or session.pace.gradients(session.habits.steps):
            held[0] = [norm_of(gradient) for gradient in gradients]
        if session.sampling:
            began = time.perf_counter()
            self._turn += 1
            parts = [window(gradient, self._turn) for gradient in gradients]
            held[1] = [1 - np.count_nonzero(part) / max(1, len(part)) for part in parts]
            if updates is not None:
                held[2] = updates
                held[6] = held[2] == 0
            if weights and (self._turn - 1) % of_weights.FAMILY.apart == 0:
                held[3:5] = sizes(weights).reshape(2, -1)
            if weights:
                self._before, self._open = [window(values, self._turn) for values in weights], held
            self._spent(began)
        return held

    def _spent(self, began: float) -> None:
        if self._backend.seen is not None:
            self._backend.seen.seconds += time.perf_counter() - began


def norm_of(values: Array) -> float:
    """The L2 norm of an array."""
    flat = values.reshape(-1)
    square = square_sum(flat)
    if square < SMALL and flat.size and (flat.max() > 0 or flat.min() < 0):
        square = float(np.square(flat, dtype=np.float64).sum())
    return square**0.5
